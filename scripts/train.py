"""`nmt train` from a checkout."""

import sys

from nmt.cli.main import main

raise SystemExit(main(["train", *sys.argv[1:]]))
