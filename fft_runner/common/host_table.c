/* Idea:  the text is read once, its lines are sorted by name, and hosts are looked up by bisection. */
#include "common/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/text_file.h"

enum { LIMIT = 1 << 26 };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct host_line *)a)->name, ((const struct host_line *)b)->name);
}

static int read_text(struct host_table *t)
{
    FILE *file = text_file_open(t->path, "");
    if (!file)
        return PF_REFUSED;
    size_t size = 1 << 16, found = 0, got = 1;
    while (got && found <= LIMIT) {
        char *larger = realloc(t->text, size *= 2);
        if (!larger)
            break;
        t->text = larger;
        found += got = fread(t->text + found, 1, size - found - 1, file);
        t->text[found] = '\0';
    }
    bool whole = !ferror(file) && !got;
    fclose(file);
    return whole ? 0 : pf_fail(PF_REFUSED, "%.200s cannot be read, or is longer than %d bytes", t->path, LIMIT);
}

static int split_lines(struct host_table *t)
{
    int most = 1;
    for (const char *at = t->text; (at = strchr(at, '\n')); at++)
        most++;
    if (!(t->lines = calloc((size_t)most, sizeof *t->lines)))
        return pf_fail(PF_REFUSED, "no memory for a table of %d hosts", most);
    char *next = NULL;
    for (char *line = strtok_r(t->text, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
        char *name = line + strspn(line, " \t\r"), *end = name + strcspn(name, " \t\r");
        if (!*name || *name == '#')
            continue;
        t->lines[t->n++] = (struct host_line){name, *end ? end + 1 : end};
        *end = '\0';
    }
    qsort(t->lines, (size_t)t->n, sizeof *t->lines, by_name);
    for (int i = 1; i < t->n; i++)
        if (!by_name(&t->lines[i - 1], &t->lines[i]))
            return pf_fail(PF_REFUSED, "%.200s has two lines for host '%.100s'; one is needed", t->path, t->lines[i].name);
    return 0;
}

int host_table_read(const char *path, struct host_table *t)
{
    *t = (struct host_table){.path = path};
    int status = read_text(t);
    return status ? status : split_lines(t);
}

void host_table_release(struct host_table *t)
{
    free(t->text);
    free(t->lines);
    *t = (struct host_table){.path = NULL};
}

static bool read_coordinates(const char *at, int dims, struct coordinate *node)
{
    node->dims = dims;
    for (int i = 0; i < dims; i++) {
        char *end;
        long value = strtol(at, &end, 10);
        if (end == at || value < 0 || value > 1 << 30)
            return false;
        node->at[i] = (int)value;
        at = end;
    }
    return true;
}

int host_table_find(const struct host_table *t, const char *host, int dims, struct coordinate *node)
{
    char bare[256];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(host, "."), host);
    const struct host_line *line = bsearch(&(struct host_line){host, ""}, t->lines, (size_t)t->n, sizeof *line, by_name);
    if (!line)
        line = bsearch(&(struct host_line){bare, ""}, t->lines, (size_t)t->n, sizeof *line, by_name);
    if (line && read_coordinates(line->rest, dims, node))
        return 0;
    return pf_fail(PF_REFUSED, "host '%.100s' has no line 'NAME %s' in %.200s", host, dims == 3 ? "x y z" : "coordinates",
                   t->path);
}
