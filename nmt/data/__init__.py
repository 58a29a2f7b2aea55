"""Raw parallel text -> pieces -> ids on disk -> batches. Nothing here knows of models."""
