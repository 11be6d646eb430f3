/* Small JSON values. */
#ifndef RUNNER_JSON_VALUES_H
#define RUNNER_JSON_VALUES_H

#include <jansson.h>
#include <stdint.h>

json_t *text(const char *bytes); /* bytes that are not UTF-8 become '?' */
json_t *text_or_null(const char *bytes); /* null when NULL or empty */
json_t *number_or_null(double value); /* null when not finite */
json_t *integers(const int *values, int n);
json_t *long_integers(const int64_t *values, int n);
json_t *reals(const double *values, int n);

#endif
