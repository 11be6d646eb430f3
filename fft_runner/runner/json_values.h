/* Small JSON values, and files of one JSON object a line. Values are put together without checking each call: if memory is
 * short, Jansson's objects and arrays lose members silently. So the memory is watched instead. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Call before the first value: a failed allocation since then fails the record. */
void json_watch_memory(void);
void *json_memory(size_t bytes); /* watched, too; to be freed by free() */

/* Open the file of --json, "-" for standard output; -1 with a message if the file cannot be written. */
int json_file_open(const char *path);
/* Append the object as one line in one write, and release the object. A status. */
int json_file_append(json_t *object, int descriptor);

json_t *text(const char *bytes); /* bytes that are not UTF-8 become '?' */
json_t *text_or_null(const char *bytes); /* null if NULL or empty */
json_t *number_or_null(double value); /* null if not finite */
json_t *integers(const int *values, int n);
json_t *long_integers(const int64_t *values, int n);
json_t *reals(const double *values, int n);

/* Whether a text is KEY=VALUE, with a key; and an object of such texts. */
bool is_label(const char *text);
json_t *json_labels(const char *const *labels, int n);
