"""The command line: a table of commands, one file each, their shared options, tables, progress."""
