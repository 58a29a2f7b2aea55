"""The `nmt` command: one file a sub-command, dispatched by `nmt.cli.main`."""
