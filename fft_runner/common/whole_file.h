/* Files that a user names: those written are whole or not there at all. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct whole_file {
    FILE *out;    /* what the caller writes to */
    char *file;   /* the file behind all links */
    char *beside; /* where it is written until it is whole */
};

/* Open a file for writing. Only a regular file is replaced, and links stay links: NULL, or the reason why it cannot be
 * written, which holds until the next call of strerror(); errno is ENOMEM without memory. */
const char *whole_file_open(struct whole_file *w, const char *path);

/* Close the file; with `keep` it replaces the old one, unless something went wrong: NULL, or the reason. */
const char *whole_file_close(struct whole_file *w, bool keep);

/* A file for reading, or NULL with a message: if there is none, and for a pipe, a device, a folder or a file too large for a
 * text, which could all hold up every rank. Messages begin with `error`. */
FILE *text_file_open(const char *path, const char *error);

/* The integers of a line, of which at most so many are kept; a # ends them. Returns their number, or -1 at other text. */
int text_integers(const char *line, int64_t *values, int most);
extern const char text_blanks[];
