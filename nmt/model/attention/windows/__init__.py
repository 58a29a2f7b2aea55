"""Windows: which source positions a step may read, and with what gain."""
