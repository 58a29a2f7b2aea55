"""Every kind of parallel corpus that can be read, one a file: a section of a configuration names one by `_target_`."""
