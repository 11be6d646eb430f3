/* Open files that a user names, for reading. */
#pragma once

#include <stdio.h>

/* The file, or NULL with a message: if there is none, and for a pipe, a device, a folder or a file too large for a text,
 * which could all hold up every rank. Messages begin with `error`. */
FILE *text_file_open(const char *path, const char *error);
