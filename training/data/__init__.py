"""Data builders, one file each, its docstring the data card."""
