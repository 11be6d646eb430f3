/* Idea:  rank 0 writes the matrix, row by row as each row arrives from its rank, so that no rank holds P x P numbers; only a
 *        Scotch graph, which is undirected, needs the whole matrix. The file is replaced whole.
 * Source: Scotch user's guide, "graph files"; TreeMatch's communication matrices. */
#include "report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/whole_file.h"
#include "runner.h"

enum { TAG = 2 };

/* ---- totals ------------------------------------------------------------------------------------------------- */

int traffic_collect(int exchanges, sender of, const void *what, MPI_Comm comm, struct traffic *t)
{
    int status = 0;
    *t = (struct traffic){.exchanges = exchanges};
    CHECK_MPI(MPI_Comm_size(comm, &t->ranks));
    size_t ranks = (size_t)t->ranks, all = ranks * (size_t)exchanges;
    int64_t *mine = calloc(2 * ranks, sizeof *mine);
    t->bytes = calloc(2 * all + 1, sizeof *t->bytes);
    if (!mine || !t->bytes)
        status = pf_fail(PF_REFUSED, "no memory for the traffic of %d ranks", t->ranks);
    status = pf_agree(status, comm);
    for (int e = 0; e < exchanges && !status; e++) {
        int64_t sum[2] = {0, 0};
        if ((status = pf_agree(of(what, e, mine, mine + ranks), comm)))
            break;
        for (size_t i = 0; i < 2 * ranks; i++)
            sum[i / ranks] += mine[i];
        for (size_t i = 0; i < 2; i++)
            CHECK_MPI(MPI_Gather(&sum[i], 1, MPI_INT64_T, t->bytes + i * all + ranks * (size_t)e, 1, MPI_INT64_T, 0, comm));
    }
    t->messages = t->bytes ? t->bytes + all : NULL;
    free(mine);
    return status;
}

static int plan_sends(const void *problem, int e, int64_t *bytes, int64_t *messages)
{
    const struct problem *p = problem;
    int number[MOST_MOVES];
    moves_of(p->plan, number);
    return pencilfft_traffic(p->plan, number[e], p->direction, bytes, messages);
}

int traffic_gather(const struct problem *p, struct traffic *t)
{
    int number[MOST_MOVES];
    return traffic_collect(moves_of(p->plan, number), plan_sends, p, p->grid, t);
}

void traffic_sum(const struct traffic *t, int e, long long *bytes, long long *messages)
{
    *bytes = *messages = 0;
    for (int i = e * t->ranks; i < (e + 1) * t->ranks; i++) {
        *bytes += t->bytes[i];
        *messages += t->messages[i];
    }
}

/* ---- the matrix --------------------------------------------------------------------------------------------- */

struct request {
    int move; /* -1: all */
    const char *path;
    bool scotch;
};

static struct request understand(pencilfft_plan plan, const char *text)
{
    struct request r = {-1, text, false};
    int number[MOST_MOVES], n = moves_of(plan, number);
    for (int i = 0; i < n; i++) {
        const char *name = pencilfft_exchange_stage(plan, number[i]);
        if (!strncmp(text, name, strlen(name)) && text[strlen(name)] == '=') {
            r.move = i;
            r.path = text + strlen(name) + 1;
        }
    }
    size_t length = strlen(r.path);
    r.scotch = length > 4 && !strcmp(r.path + length - 4, ".grf");
    return r;
}

static int my_row(const struct problem *p, const struct request *r, int ranks, int64_t *row)
{
    int status = 0;
    int64_t *one = calloc((size_t)ranks, sizeof *one);
    if (!one)
        return pf_fail(PF_REFUSED, "no memory for a row of the byte matrix");
    memset(row, 0, (size_t)ranks * sizeof *row);
    int number[MOST_MOVES], n = moves_of(p->plan, number);
    for (int i = 0; i < n && !status; i++) {
        if ((r->move >= 0 && i != r->move) || (status = pencilfft_traffic(p->plan, number[i], p->direction, one, NULL)))
            continue;
        for (int j = 0; j < ranks; j++)
            row[j] += one[j];
    }
    free(one);
    return status;
}

static void print_row(FILE *file, const int64_t *row, int ranks)
{
    for (int j = 0; j < ranks; j++)
        fprintf(file, "%lld%c", (long long)row[j], j + 1 < ranks ? ' ' : '\n');
}

/* Version 0; vertices and arcs; vertices count from 0, arcs have loads; then for each vertex its degree, and load and
 * end of each arc. */
static void print_scotch(FILE *file, int64_t *matrix, int ranks)
{
    int64_t arcs = 0;
    for (int i = 0; i < ranks; i++)
        for (int j = 0; j < i; j++) {
            int64_t both = matrix[(size_t)i * (size_t)ranks + (size_t)j] + matrix[(size_t)j * (size_t)ranks + (size_t)i];
            matrix[(size_t)i * (size_t)ranks + (size_t)j] = matrix[(size_t)j * (size_t)ranks + (size_t)i] = both;
            arcs += both ? 2 : 0;
        }
    fprintf(file, "0\n%d %lld\n0 010\n", ranks, (long long)arcs);
    for (int i = 0; i < ranks; i++) {
        const int64_t *row = matrix + (size_t)i * (size_t)ranks;
        int degree = 0;
        for (int j = 0; j < ranks; j++)
            degree += j != i && row[j];
        fprintf(file, "%d", degree);
        for (int j = 0; j < ranks; j++)
            if (j != i && row[j])
                fprintf(file, " %lld %d", (long long)row[j], j);
        fprintf(file, "\n");
    }
}

/* Rank 0 receives row after row, its own first; the matrix is kept only for Scotch. */
static void receive_rows(const struct problem *p, int ranks, int64_t *row, FILE *file, int64_t *matrix)
{
    for (int i = 0; i < ranks; i++) {
        if (i > 0)
            CHECK_MPI(MPI_Recv(row, ranks, MPI_INT64_T, i, TAG, p->grid, MPI_STATUS_IGNORE));
        if (matrix)
            memcpy(matrix + (size_t)i * (size_t)ranks, row, (size_t)ranks * sizeof *row);
        else
            print_row(file, row, ranks);
    }
}

struct output {
    struct whole_file file;
    int64_t *matrix;
};

static int output_open(const struct request *r, int ranks, struct output *o)
{
    if (r->scotch && !(o->matrix = calloc((size_t)ranks * (size_t)ranks, sizeof *o->matrix)))
        return pf_fail(PF_REFUSED, "no memory for the byte matrix of %d ranks", ranks);
    const char *why = whole_file_open(&o->file, r->path);
    return why ? pf_fail(PF_REFUSED, "--byte-matrix: %.200s cannot be written: %s", r->path, why) : 0;
}

static int output_close(const struct request *r, struct output *o, bool keep)
{
    const char *why = o->file.out ? whole_file_close(&o->file, keep) : NULL;
    free(o->matrix);
    return why ? pf_fail(PF_REFUSED, "--byte-matrix: %.200s was not written completely: %s", r->path, why) : 0;
}

int traffic_write_matrix(const struct problem *p, const char *text)
{
    struct request r = understand(p->plan, text);
    struct output o = {.matrix = NULL};
    int rank, ranks, status = 0, closed;
    CHECK_MPI(MPI_Comm_rank(p->grid, &rank));
    CHECK_MPI(MPI_Comm_size(p->grid, &ranks));
    int64_t *row = calloc((size_t)ranks, sizeof *row);
    if (!row)
        status = pf_fail(PF_REFUSED, "no memory for a row of the byte matrix");
    else if (rank == 0)
        status = output_open(&r, ranks, &o);
    if (!status)
        status = my_row(p, &r, ranks, row);
    if (!(status = pf_agree(status, p->grid))) {
        if (rank > 0)
            CHECK_MPI(MPI_Send(row, ranks, MPI_INT64_T, 0, TAG, p->grid));
        else
            receive_rows(p, ranks, row, o.file.out, o.matrix);
        if (o.matrix)
            print_scotch(o.file.out, o.matrix, ranks);
    }
    free(row);
    closed = rank == 0 ? output_close(&r, &o, !status) : 0;
    return status ? status : pf_agree(closed, p->grid);
}
