#include "json_values.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/message.h"

/* Enough digits for nanoseconds in times of seconds, and for errors. */
enum { REAL_DIGITS = 10 };

static bool whole;

void *json_memory(size_t bytes)
{
    void *memory = malloc(bytes);
    whole = whole && memory;
    return memory;
}

void json_watch_memory(void)
{
    whole = true;
    json_set_alloc_funcs(json_memory, free);
}

int json_file_open(const char *path)
{
    if (!strcmp(path, "-"))
        return STDOUT_FILENO;
    int descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0)
        pf_fail(PF_REFUSED, "--json: %.200s cannot be written: %s", path, strerror(errno));
    return descriptor;
}

int json_file_append(json_t *object, int descriptor)
{
    int status = 0;
    char *line = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS)) : NULL;
    json_decref(object);
    if (!line || !whole) {
        free(line);
        return pf_fail(PF_REFUSED, "no memory for a record");
    }
    size_t length = strlen(line);
    line[length] = '\n'; /* in place of the final zero: one write for the line */
    flock(descriptor, LOCK_EX); /* others may append now; without locks, one write has to do */
    off_t before = lseek(descriptor, 0, SEEK_END);
    errno = 0;
    if (write(descriptor, line, length + 1) != (ssize_t)(length + 1)) {
        status = pf_fail(PF_REFUSED, "--json: the record was not written: %s", errno ? strerror(errno) : "no space");
        if (before >= 0 && ftruncate(descriptor, before)) /* if the disk is full, the partial line is removed */
            status = pf_fail(PF_REFUSED, "--json: the record was not written completely");
    }
    flock(descriptor, LOCK_UN);
    free(line);
    return status;
}

/* Bytes that are not UTF-8 (a file name may have them) become '?'. */
json_t *text(const char *bytes)
{
    json_t *string = json_string(bytes);
    if (string)
        return string;
    char *plain = json_memory(strlen(bytes) + 1);
    if (!plain)
        return NULL;
    strcpy(plain, bytes);
    for (char *at = plain; *at; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    string = json_string(plain);
    free(plain);
    return string;
}

json_t *text_or_null(const char *bytes)
{
    return bytes && *bytes ? text(bytes) : json_null();
}

json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

#define ARRAY(name, type, json_of)                            \
    json_t *name(const type *values, int n)                   \
    {                                                         \
        json_t *array = json_array();                         \
        for (int i = 0; i < n; i++)                           \
            json_array_append_new(array, json_of(values[i])); \
        return array;                                         \
    }
ARRAY(integers, int, json_integer)
ARRAY(long_integers, int64_t, json_integer)
ARRAY(reals, double, json_real)

bool is_label(const char *label)
{
    return strchr(label, '=') && *label != '=';
}

json_t *json_labels(const char *const *labels, int n)
{
    json_t *object = json_object();
    for (int i = 0; i < n; i++) {
        size_t length = strcspn(labels[i], "=");
        char *key = json_memory(length + 1);
        if (!key)
            break;
        snprintf(key, length + 1, "%s", labels[i]);
        json_object_set_new(object, key, text(labels[i] + length + 1));
        free(key);
    }
    return object;
}
