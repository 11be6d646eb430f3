/* Reading a mapfile of the Blue Gene form. Line i (blank lines and lines that begin with # not counted) places grid rank i:
 * the node's coordinates, then the slot, separated by blanks. Every rank has a place of its own.
 * Cost: a pass over the file, and a sort of the places to find duplicates. Lines are read into a buffer of fixed size and
 *       must be text, so a wrong file costs neither memory nor time. */
#include "common/sources.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/whole_file.h"

enum { LINE_SIZE = 512 };

struct reader {
    FILE *file;
    const char *path;
    int line;
    char text[LINE_SIZE];
    const struct torus *torus;
    int tasks_per_node;
};

#define REFUSE(reader, format, ...) \
    pf_fail(PF_REFUSED, "MapfileError: %.200s line %d: " format, (reader)->path, (reader)->line, __VA_ARGS__)

enum { END_OF_FILE = -1 };

/* 0 with a line in reader->text, END_OF_FILE, or a failure. */
static int next_line(struct reader *r)
{
    int length = 0, c;
    r->line++;
    while ((c = getc(r->file)) != EOF && c != '\n') {
        if (!isprint(c) && !isspace(c))
            return REFUSE(r, "a byte of value %d is not text; a mapfile has %d integers a line", c, r->torus->dims + 1);
        if (length == LINE_SIZE - 1)
            return REFUSE(r, "is longer than %d characters; a mapfile has %d integers a line", LINE_SIZE - 1,
                          r->torus->dims + 1);
        r->text[length++] = (char)c;
    }
    r->text[length] = '\0';
    if (ferror(r->file))
        return REFUSE(r, "cannot be read: %s", strerror(errno));
    return c == EOF && !length ? END_OF_FILE : 0;
}

static int check_place(struct reader *r, const struct coordinate *node, int slot)
{
    char where[COORDINATE_TEXT], shape[COORDINATE_TEXT];
    coordinate_text(node, where);
    torus_text(r->torus, shape);
    int outside = torus_outside(r->torus, node);
    if (outside >= 0)
        return REFUSE(r, "node %s is outside torus %s; %c must be 0..%d", where, shape, r->torus->letter[outside],
                      r->torus->extent[outside] - 1);
    if (slot < 0 || slot >= r->tasks_per_node)
        return REFUSE(r, "slot %d of node %s; with %d task%s per node t must be 0..%d", slot, where, r->tasks_per_node,
                      r->tasks_per_node == 1 ? "" : "s", r->tasks_per_node - 1);
    return 0;
}

static int parse_place(struct reader *r, int64_t *place)
{
    int dims = r->torus->dims;
    int64_t values[MAX_DIMS + 1];
    int found = text_integers(r->text, values, dims + 1);
    struct coordinate node = {.dims = dims};
    for (int i = 0; i < found && i <= dims; i++)
        if (values[i] != (int)values[i])
            found = -1;
    if (found < 0)
        return REFUSE(r, "'%.60s' contains something that is not an integer; each line needs %d: coordinates and slot",
                      r->text, dims + 1);
    if (found != dims + 1)
        return REFUSE(r, "has %d integers; a torus of %d dimensions needs %d: coordinates and slot", found, dims, dims + 1);
    for (int i = 0; i < dims; i++)
        node.at[i] = (int)values[i];
    int status = check_place(r, &node, (int)values[dims]);
    if (!status)
        *place = torus_node(r->torus, &node) * r->tasks_per_node + values[dims];
    return status;
}

static int read_places(struct reader *r, struct placing *m)
{
    int status, rank = 0;
    while (!(status = next_line(r))) {
        char first = r->text[strspn(r->text, text_blanks)];
        if (!first || first == '#')
            continue;
        if (rank == m->ranks)
            return REFUSE(r, "places one rank too many; there are %d processes, one line each", m->ranks);
        if ((status = parse_place(r, &m->place[rank])))
            return status;
        m->line[rank++] = r->line;
    }
    if (status != END_OF_FILE)
        return status;
    if (rank < m->ranks)
        return pf_fail(PF_REFUSED, "MapfileError: %.200s places %d ranks; there are %d processes, one line each", r->path,
                       rank, m->ranks);
    return 0;
}

struct taken {
    int64_t place;
    int line;
};

static int by_place(const void *a, const void *b)
{
    const struct taken *first = a, *second = b;
    if (first->place != second->place)
        return first->place < second->place ? -1 : 1;
    return (first->line > second->line) - (first->line < second->line);
}

static int refuse_double(const struct reader *r, const struct taken *first, const struct taken *second)
{
    char where[COORDINATE_TEXT];
    struct coordinate node = torus_coordinate(r->torus, first->place / r->tasks_per_node);
    coordinate_text(&node, where);
    return pf_fail(PF_REFUSED,
                   "MapfileError: %.200s line %d and line %d both give node %s slot %d; "
                   "each place takes one rank",
                   r->path, first->line, second->line, where, (int)(first->place % r->tasks_per_node));
}

static int check_doubles(const struct reader *r, const struct placing *m)
{
    int status = 0;
    struct taken *taken = calloc((size_t)m->ranks, sizeof *taken);
    if (!taken)
        return pf_fail(PF_REFUSED, "no memory for a mapfile of %d ranks", m->ranks);
    for (int i = 0; i < m->ranks; i++)
        taken[i] = (struct taken){m->place[i], m->line[i]};
    qsort(taken, (size_t)m->ranks, sizeof *taken, by_place);
    for (int i = 1; i < m->ranks && !status; i++)
        if (taken[i].place == taken[i - 1].place)
            status = refuse_double(r, &taken[i - 1], &taken[i]);
    free(taken);
    return status;
}

int mapfile_read(const void *path, const struct torus *torus, int tasks_per_node, int ranks, struct placing *m)
{
    int status = 0;
    struct reader reader = {.path = path, .torus = torus, .tasks_per_node = tasks_per_node};
    *m = (struct placing){.name = path, .ranks = ranks};
    m->place = calloc((size_t)ranks, sizeof *m->place);
    m->line = calloc((size_t)ranks, sizeof *m->line);
    if (!m->place || !m->line)
        status = pf_fail(PF_REFUSED, "no memory for a mapfile of %d ranks", ranks);
    else if (!(reader.file = text_file_open(path, "MapfileError: ")))
        status = PF_REFUSED;
    if (!status)
        status = read_places(&reader, m);
    if (!status)
        status = check_doubles(&reader, m);
    if (reader.file)
        fclose(reader.file);
    if (status)
        placing_release(m);
    return status;
}

void placing_release(struct placing *m)
{
    free(m->place);
    free(m->line);
    *m = (struct placing){.name = NULL};
}
