"""Many trainings of one experiment that differ in a setting or two, and what they came to: `nmt compare`."""
