"""`nmt translate` from a checkout."""

import sys

from nmt.cli.main import main

raise SystemExit(main(["translate", *sys.argv[1:]]))
