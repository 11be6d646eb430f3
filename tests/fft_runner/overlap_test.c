/* Exchanges that overlap, by the steps that exchange.h says, with ranks that are late in turn: what a late rank has not read
 * yet must not be written over, in the same direction again or in the other. Run under mpirun, any number of ranks. */
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "exchange/exchange.h"
#include "exchange/messages.h"
#include "geometry/blocks.h"

enum { RUNS = 6, DIRECTIONS = 2, X = 8, Y = 8, Z = 128, LATE_MS = 10, MOST_RANKS = 16 };

static int p, me;

struct transfer {
    const struct pf_exchange *exchange;
    struct pf_transpose t;
    struct pf_parts sent, received;
    void *state, *from, *to;
    int run;
};

static pencilfft_box box(int split, int j)
{
    int64_t n[3] = {X * p + 1, Y * p, Z};
    struct pf_block block = pf_block_of(n[split], p, j);
    pencilfft_box b = {.extent = {n[0], n[1], n[2]}};
    b.offset[split] = block.offset;
    b.extent[split] = block.extent;
    b.stride[2] = 1;
    b.stride[1] = b.extent[2];
    b.stride[0] = b.extent[1] * b.extent[2];
    return b;
}

static double value(const struct transfer *w, int from, int to, int slice, int64_t i)
{
    return (((w->run * MOST_RANKS + from) * MOST_RANKS + to) * 8 + slice) * 1e6 + (double)i;
}

static double *message(const struct pf_messages *list, int i, void *buffer)
{
    return (double *)buffer + 2 * list->start[i]; /* elements of 16 bytes */
}

static void write_slice(const struct transfer *w, int slice)
{
    for (int j = 0; j < p; j++) {
        int i = slice * p + j;
        double *to = j == me ? message(&w->received.list, i, w->to) : message(&w->sent.list, i, w->from);
        for (int64_t k = 0; k < 2 * w->sent.list.elements[i]; k++)
            to[k] = value(w, me, j, slice, k);
    }
}

static void check_slice(const struct transfer *w, int slice)
{
    struct timespec pause = {0, LATE_MS * 1000000};
    int64_t wrong = 0;
    if (w->run % p == me)
        nanosleep(&pause, NULL);
    for (int j = 0; j < p; j++) {
        int i = slice * p + j;
        const double *from = message(&w->received.list, i, w->to);
        for (int64_t k = 0; k < 2 * w->received.list.elements[i]; k++)
            wrong += from[k] != value(w, j, me, slice, k);
    }
    CHECK_INT(wrong, 0);
}

static void make(struct transfer *w, const struct pf_exchange *exchange, const pencilfft_box *from, const pencilfft_box *to,
                 void *other)
{
    *w = (struct transfer){.exchange = exchange};
    w->t = (struct pf_transpose){MPI_COMM_WORLD, p, me, from, to, 16, 1, 2, other};
    int slices = exchange->slices ? exchange->slices(&w->t) : 1;
    CHECK_INT(pf_parts_make(&w->t, true, slices, &w->sent), PENCILFFT_OK);
    CHECK_INT(pf_parts_make(&w->t, false, slices, &w->received), PENCILFFT_OK);
    CHECK_INT(exchange->plan(&w->t, &w->sent.list, &w->received.list, &w->state), PENCILFFT_OK);
    w->from = calloc((size_t)w->sent.list.total, 16);
    w->to = calloc((size_t)w->received.list.total, 16);
}

static void connect_it(struct transfer *w)
{
    if (w->exchange->connect)
        CHECK_INT(w->exchange->connect(w->state, w->from, w->to), PENCILFFT_OK);
    void *memory = w->exchange->memory ? w->exchange->memory(w->state) : NULL;
    if (memory) {
        free(w->from);
        free(w->to);
        w->from = w->to = memory;
    }
}

static void run_it(struct transfer *w, int run)
{
    const struct pf_exchange *exchange = w->exchange;
    w->run = run;
    if (exchange->begin)
        CHECK_INT(exchange->begin(w->state, w->to), PENCILFFT_OK);
    for (int slice = 0; slice < w->sent.list.slices; slice++) {
        write_slice(w, slice);
        CHECK_INT(exchange->start(w->state, slice, w->from, w->to), PENCILFFT_OK);
    }
    for (int slice = 0; slice < w->received.list.slices; slice++) {
        if (exchange->finish)
            CHECK_INT(exchange->finish(w->state, slice), PENCILFFT_OK);
        check_slice(w, slice);
    }
    if (exchange->end)
        CHECK_INT(exchange->end(w->state), PENCILFFT_OK);
}

static void end(struct transfer *w)
{
    w->exchange->destroy(w->state);
    pf_parts_release(&w->sent);
    pf_parts_release(&w->received);
    if (w->from != w->to) {
        free(w->from);
        free(w->to);
    }
}

static void check_exchange(const struct pf_exchange *exchange)
{
    pencilfft_box before[MOST_RANKS], after[MOST_RANKS];
    struct transfer both[DIRECTIONS];
    for (int j = 0; j < p; j++) {
        before[j] = box(0, j);
        after[j] = box(1, j);
    }
    make(&both[0], exchange, before, after, NULL);
    make(&both[1], exchange, after, before, both[0].state);
    for (int i = 0; i < DIRECTIONS; i++)
        connect_it(&both[i]);
    for (int run = 0; run < RUNS; run++)
        run_it(&both[run / 2 % 2], run);
    if (me == 0)
        printf("%s: %d slices\n", exchange->name, both[0].sent.list.slices);
    for (int i = 0; i < DIRECTIONS; i++)
        end(&both[i]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    const struct pf_exchange *exchange;
    for (int i = 0; (exchange = pf_table_row(&pf_exchanges, i)); i++)
        if (exchange->overlaps)
            check_exchange(exchange);
    MPI_Finalize();
    return check_result();
}
