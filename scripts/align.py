"""`nmt align` from a checkout."""

import sys

from nmt.cli.main import main

raise SystemExit(main(["align", *sys.argv[1:]]))
