/* Every exchange by the steps of exchange.h: alone, and two at once in a group if the exchange can run beside others, with
 * ranks that are late in turn. Data that a late rank has not read yet must not be overwritten, in the same direction again
 * or in the other, and two in flight must not take each other's messages. Run under mpirun, any number of ranks. */
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "exchange/exchange.h"
#include "exchange/messages.h"
#include "geometry/blocks.h"
#include "geometry/geometry.h"

enum { RUNS = 6, DIRECTIONS = 2, X = 4, Y = 4, Z = 64, LATE_MS = 4, MOST_RANKS = 16, ELEMENT = 16, FIELDS = 2, TESTS = 5 };

static int p, me, extra; /* indices of x beyond a multiple of the ranks */

struct transfer {
    const struct pf_exchange *exchange;
    struct pf_transpose t;
    struct pf_parts sent, received;
    void *state, *from, *to; /* send buffer and receive buffer */
    double *before, *after; /* the two boxes */
};

static pencilfft_box box(int split, int j)
{
    int64_t n[3] = {X * p + extra, Y * p, Z};
    struct pf_block block = pf_block_of(n[split], p, j);
    pencilfft_box b = {.extent = {n[0], n[1], n[2]}};
    b.offset[split] = block.offset;
    b.extent[split] = block.extent;
    b.stride[2] = 1;
    b.stride[1] = b.extent[2];
    b.stride[0] = b.extent[1] * b.extent[2];
    return b;
}

static int64_t elements(const pencilfft_box *boxes)
{
    return pf_box_elements(&boxes[me]) * FIELDS;
}

/* Sets the elements of my box to numbers of the run, the direction and their place, or counts other numbers. */
static int64_t go_through(const pencilfft_box *b, int number, bool fill, double *data)
{
    int64_t wrong = 0;
    for (int f = 0; f < FIELDS; f++)
        for (int64_t x = 0; x < b->extent[0]; x++)
            for (int64_t y = 0; y < b->extent[1]; y++)
                for (int64_t z = 0; z < b->extent[2]; z++) {
                    double *at = data +
                                 2 * (f * pf_box_elements(b) + x * b->stride[0] + y * b->stride[1] + z * b->stride[2]);
                    double value = (((number * FIELDS + f) * 128 + (double)(b->offset[0] + x)) * 128 +
                                    (double)(b->offset[1] + y)) *
                                       128 +
                                   (double)(b->offset[2] + z);
                    if (fill)
                        at[0] = value, at[1] = -value;
                    wrong += at[0] != value || at[1] != -value;
                }
    return wrong;
}

static void make(struct transfer *w, const struct pf_exchange *exchange, const pencilfft_box *from, const pencilfft_box *to,
                 struct transfer *other, bool beside)
{
    bool boxes = exchange->takes == PF_BOXES;
    *w = (struct transfer){.exchange = exchange};
    w->t = (struct pf_transpose){.group = MPI_COMM_WORLD,
                                 .p = p,
                                 .me = me,
                                 .from = from,
                                 .to = to,
                                 .element_bytes = ELEMENT,
                                 .fields = FIELDS,
                                 .beside = beside,
                                 .lane = other ? 1 : 0,
                                 .other_direction = other ? other->state : NULL};
    CHECK_INT(pf_parts_make(&w->t, true, 2, &w->sent), PENCILFFT_OK);
    CHECK_INT(pf_parts_make(&w->t, false, 2, &w->received), PENCILFFT_OK);
    CHECK_INT(exchange->plan(&w->t, boxes ? NULL : &w->sent.list, boxes ? NULL : &w->received.list, &w->state),
              PENCILFFT_OK);
    w->before = calloc((size_t)elements(from), ELEMENT);
    w->after = calloc((size_t)elements(to), ELEMENT);
    w->from = boxes ? w->before : calloc((size_t)w->sent.list.total, ELEMENT);
    w->to = boxes ? w->after : calloc((size_t)w->received.list.total, ELEMENT);
}

static void connect_it(struct transfer *w)
{
    bool boxes = w->exchange->takes == PF_BOXES;
    if (w->exchange->connect)
        CHECK_INT(w->exchange->connect(w->state, boxes ? NULL : w->from, boxes ? NULL : w->to), PENCILFFT_OK);
    void *memory = w->exchange->memory ? w->exchange->memory(w->state) : NULL;
    if (memory) {
        free(w->from);
        free(w->to);
        w->from = w->to = memory;
    }
}

static void start(struct transfer *w, int number)
{
    const struct pf_exchange *exchange = w->exchange;
    int own = exchange->moves_self ? -1 : me;
    CHECK_INT(go_through(&w->t.from[me], number, true, w->before), 0);
    if (exchange->begin)
        CHECK_INT(exchange->begin(w->state, w->to), PENCILFFT_OK);
    if (exchange->takes == PF_MESSAGES) {
        pf_pack(&w->t, &w->sent, own, w->before, w->from);
        if (own >= 0)
            pf_pack_own(&w->t, &w->received, w->before, w->to);
    }
    CHECK_INT(exchange->start(w->state, w->from, w->to), PENCILFFT_OK);
}

static void finish(struct transfer *w, int number)
{
    const struct pf_exchange *exchange = w->exchange;
    struct timespec pause = {0, LATE_MS * 1000000};
    if (exchange->finish)
        CHECK_INT(exchange->finish(w->state), PENCILFFT_OK);
    if (number % p == me)
        nanosleep(&pause, NULL);
    if (exchange->takes == PF_MESSAGES)
        pf_unpack(&w->t, &w->received, -1, w->to, w->after);
    CHECK_INT(go_through(&w->t.to[me], number, false, w->after), 0);
    if (exchange->end)
        CHECK_INT(exchange->end(w->state), PENCILFFT_OK);
}

static void end(struct transfer *w)
{
    if (w->exchange->takes == PF_MESSAGES && w->from != w->to) {
        free(w->from);
        free(w->to);
    }
    w->exchange->destroy(w->state);
    pf_parts_release(&w->sent);
    pf_parts_release(&w->received);
    free(w->before);
    free(w->after);
}

static void run_alone(struct transfer both[DIRECTIONS])
{
    for (int run = 0; run < RUNS; run++) {
        start(&both[run / 2 % 2], run);
        finish(&both[run / 2 % 2], run);
    }
}

/* Both are in flight between start and finish, and are finished in either order. */
static void run_at_once(struct transfer both[DIRECTIONS])
{
    for (int run = 0; run < RUNS; run++) {
        int first = run % 2, done;
        start(&both[0], 2 * run);
        start(&both[1], 2 * run + 1);
        for (int i = 0; i < TESTS * DIRECTIONS; i++)
            CHECK_INT(both[0].exchange->progress(both[i % DIRECTIONS].state, &done), PENCILFFT_OK);
        finish(&both[first], 2 * run + first);
        finish(&both[!first], 2 * run + !first);
    }
}

static void check_exchange(const struct pf_exchange *exchange, bool beside)
{
    pencilfft_box before[MOST_RANKS], after[MOST_RANKS];
    struct transfer both[DIRECTIONS];
    extra = strcmp(exchange->name, "alltoall") ? 1 : 0; /* which refuses uneven extents */
    for (int j = 0; j < p; j++) {
        before[j] = box(0, j);
        after[j] = box(1, j);
    }
    make(&both[0], exchange, before, after, NULL, beside);
    make(&both[1], exchange, after, before, &both[0], beside);
    for (int i = 0; i < DIRECTIONS; i++)
        connect_it(&both[i]);
    if (beside)
        run_at_once(both);
    else
        run_alone(both);
    if (me == 0)
        printf("%s %s\n", exchange->name, beside ? "at once" : "alone");
    for (int i = 0; i < DIRECTIONS; i++)
        end(&both[i]);
}

/* fftw needs FFTW's MPI library. */
static bool goes(const struct pf_exchange *exchange)
{
    return exchange->plan && strcmp(exchange->name, "fftw");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    const struct pf_exchange *exchange;
    for (int i = 0; (exchange = pf_table_row(&pf_exchanges, i)); i++)
        if (goes(exchange)) {
            check_exchange(exchange, false);
            if (exchange->beside)
                check_exchange(exchange, true);
        }
    MPI_Finalize();
    return check_result();
}
