"""`nmt evaluate` from a checkout."""

import sys

from nmt.cli.main import main

raise SystemExit(main(["evaluate", *sys.argv[1:]]))
