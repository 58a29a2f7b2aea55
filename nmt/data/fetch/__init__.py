"""Getting a corpus by its recipe, a configuration of configs/data: what there is, downloading, reading, plain files."""
