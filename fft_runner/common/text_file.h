/* Files that a user names, opened to be read. */
#pragma once

#include <stdio.h>

/* The file, or NULL with a message: where there is none, and where it is a pipe, a device, a folder or larger than any text
 * that is read here, all of which could hold up every rank. Messages begin with `error`. */
FILE *text_file_open(const char *path, const char *error);
