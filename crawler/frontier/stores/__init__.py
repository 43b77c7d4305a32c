"""Where a frontier is kept: in memory, in a SQLite file, or in Redis."""
