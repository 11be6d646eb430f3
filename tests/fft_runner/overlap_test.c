/* Exchanges that overlap, by what exchange.h says of produce and consume, with ranks that are late in turn: what a late
 * rank has not read yet must not be written over, in the same way again or in the other. Run under mpirun, any number. */
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "exchange/exchange.h"
#include "exchange/messages.h"
#include "geometry/blocks.h"

enum { RUNS = 6, WAYS = 2, X = 8, Y = 8, Z = 128, LATE_MS = 10, MOST_RANKS = 16 };

static int p, me;

struct way {
    const struct pf_exchange *exchange;
    struct pf_transpose t;
    struct pf_parts sent, received;
    void *state, *from, *to;
    int produced, consumed, run; /* slices of this run */
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

static double value(const struct way *w, int from, int to, int slice, int64_t i)
{
    return (((w->run * MOST_RANKS + from) * MOST_RANKS + to) * 8 + slice) * 1e6 + (double)i;
}

static double *message(const struct pf_messages *list, int i, void *buffer)
{
    return (double *)buffer + 2 * list->start[i]; /* elements of 16 bytes */
}

static void produce(void *local, int slice)
{
    struct way *w = local;
    CHECK_INT(slice, w->produced++);
    for (int j = 0; j < p; j++) {
        int i = slice * p + j;
        double *to = j == me ? message(&w->received.list, i, w->to) : message(&w->sent.list, i, w->from);
        for (int64_t k = 0; k < 2 * w->sent.list.elements[i]; k++)
            to[k] = value(w, me, j, slice, k);
    }
}

static void consume(void *local, int slice)
{
    struct way *w = local;
    struct timespec pause = {0, LATE_MS * 1000000};
    int64_t wrong = 0;
    CHECK_INT(slice, w->consumed++);
    CHECK_INT(w->produced, w->sent.list.slices);
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

static void make_way(struct way *w, const struct pf_exchange *exchange, const pencilfft_box *from, const pencilfft_box *to,
                     void *other)
{
    *w = (struct way){.exchange = exchange};
    w->t = (struct pf_transpose){MPI_COMM_WORLD, p, me, from, to, 16, 1, 2, other};
    int slices = exchange->slices ? exchange->slices(&w->t) : 1;
    CHECK_INT(pf_parts_sent(&w->t, slices, &w->sent), PENCILFFT_OK);
    CHECK_INT(pf_parts_received(&w->t, slices, &w->received), PENCILFFT_OK);
    CHECK_INT(exchange->plan(&w->t, &w->sent.list, &w->received.list, &w->state), PENCILFFT_OK);
    w->from = calloc((size_t)w->sent.list.total, 16);
    w->to = calloc((size_t)w->received.list.total, 16);
}

static void connect_way(struct way *w)
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

static void run_way(struct way *w, int run)
{
    struct pf_run calls = {MPI_COMM_WORLD, produce, consume, w};
    w->produced = w->consumed = 0;
    w->run = run;
    CHECK_INT(w->exchange->run(w->state, &calls, w->from, w->to), PENCILFFT_OK);
    CHECK_INT(w->consumed, w->received.list.slices);
}

static void end_way(struct way *w)
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
    struct way ways[WAYS];
    for (int j = 0; j < p; j++) {
        before[j] = box(0, j);
        after[j] = box(1, j);
    }
    make_way(&ways[0], exchange, before, after, NULL);
    make_way(&ways[1], exchange, after, before, ways[0].state);
    for (int way = 0; way < WAYS; way++)
        connect_way(&ways[way]);
    for (int run = 0; run < RUNS; run++)
        run_way(&ways[run / 2 % 2], run);
    if (me == 0)
        printf("%s: %d slices\n", exchange->name, ways[0].sent.list.slices);
    for (int way = 0; way < WAYS; way++)
        end_way(&ways[way]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (int i = 0; i < pf_exchanges.count; i++) {
        const struct pf_exchange *exchange = pf_table_row(&pf_exchanges, i);
        if (exchange->overlaps)
            check_exchange(exchange);
    }
    MPI_Finalize();
    return check_result();
}
