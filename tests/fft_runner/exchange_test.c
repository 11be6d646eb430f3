/* Every exchange by the steps of exchange.h: alone, and two at once in a group if the exchange can run beside others, with
 * ranks that are late in turn. Data that a late rank has not read yet must not be overwritten, in the same direction again
 * or in the other, and two in flight must not take each other's messages. Run under mpirun, any number of ranks.
 *
 * Or one message that is larger than an int counts, really moved, by one exchange:
 *     mpirun -n 2 exchange_test EXCHANGE       2^31 numbers of 4 bytes and some more, 8.6 GB
 *     mpirun -n 2 exchange_test EXCHANGE 16    2^27 numbers of 16 bytes and some more, 2.1 GB
 * Rank 0 sends rank 1 nearly all; if all messages have equal length, all of them are that large. The sent data are zero
 * except in a few places, and only these need memory; the received data are checked in every place. */
#include <sys/mman.h>
#include <time.h>

#include "driver.h"
#include "exchange/exchange.h"
#include "exchange/messages.h"
#include "geometry/blocks.h"
#include "geometry/geometry.h"

enum { RUNS = 6, DIRECTIONS = 2, LATE_MS = 4, MOST_RANKS = 16, ELEMENT = 16, FIELDS = 2, TESTS = 5, WIDE = 64 };

struct transfer {
    const struct pf_exchange *exchange;
    struct pf_transpose t;
    struct pf_parts sent, received;
    bool boxes; /* instead of messages */
    void *state, *from, *to; /* send buffer and receive buffer */
    double *before, *after; /* the two boxes */
};

/* Indices offset to offset + extent - 1 of one axis, all of the others. */
static pencilfft_box part_of(const int64_t n[3], int axis, int64_t offset, int64_t extent)
{
    pencilfft_box b = {.extent = {n[0], n[1], n[2]}};
    b.offset[axis] = offset;
    b.extent[axis] = extent;
    b.stride[2] = 1;
    b.stride[1] = b.extent[2];
    b.stride[0] = b.extent[1] * b.extent[2];
    return b;
}

static void plan(struct transfer *w, const struct pf_exchange *exchange, struct pf_transpose t)
{
    *w = (struct transfer){.exchange = exchange, .t = t, .boxes = exchange->takes_boxes};
    w->t.group = MPI_COMM_WORLD;
    w->t.p = ranks, w->t.me = rank;
    OK(pf_parts_make(&w->t, true, 2, &w->sent));
    OK(pf_parts_make(&w->t, false, 2, &w->received));
    OK(pf_exchange_plan(exchange, &w->t, &w->sent, &w->received, &w->state));
}

static void connect_it(struct transfer *w)
{
    if (w->exchange->connect)
        OK(w->exchange->connect(w->state, w->from, w->to));
    void *memory = w->exchange->memory ? w->exchange->memory(w->state) : NULL;
    if (memory) {
        free(w->from);
        free(w->to);
        w->from = w->to = memory;
    }
}

static void end(struct transfer *w)
{
    pf_exchange_destroy(w->exchange, w->state);
    pf_parts_release(&w->sent);
    pf_parts_release(&w->received);
}

/* ---- late ranks ------------------------------------------------------------------------------------------------------ */

static void make(struct transfer *w, const struct pf_exchange *exchange, const pencilfft_box *from, const pencilfft_box *to,
                 const struct transfer *other, bool beside)
{
    plan(w, exchange,
         (struct pf_transpose){.from = from,
                               .to = to,
                               .element_bytes = ELEMENT,
                               .fields = FIELDS,
                               .beside = beside,
                               .lane = other ? 1 : 0,
                               .other_direction = other ? other->state : NULL});
    w->before = calloc((size_t)pf_box_elements(&from[rank]) * FIELDS, ELEMENT);
    w->after = calloc((size_t)pf_box_elements(&to[rank]) * FIELDS, ELEMENT);
    w->from = w->boxes ? w->before : calloc((size_t)w->sent.list.total, ELEMENT);
    w->to = w->boxes ? w->after : calloc((size_t)w->received.list.total, ELEMENT);
    connect_it(w);
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
                    int64_t place = ((number * FIELDS + f) * 128 + b->offset[0] + x) * 128 + b->offset[1] + y;
                    double value = (double)(place * 128 + b->offset[2] + z);
                    if (fill)
                        at[0] = value, at[1] = -value;
                    wrong += at[0] != value || at[1] != -value;
                }
    return wrong;
}

static void start(struct transfer *w, int number)
{
    const struct pf_exchange *exchange = w->exchange;
    int own = exchange->moves_self ? -1 : rank;
    go_through(&w->t.from[rank], number, true, w->before);
    if (exchange->begin)
        OK(exchange->begin(w->state, w->to));
    if (!w->boxes) {
        pf_pack(&w->t, &w->sent, own, w->before, w->from);
        if (own >= 0)
            pf_pack_own(&w->t, &w->received, w->before, w->to);
    }
    OK(exchange->start(w->state, w->from, w->to));
}

static void finish(struct transfer *w, int number)
{
    const struct pf_exchange *exchange = w->exchange;
    struct timespec pause = {0, LATE_MS * 1000000};
    if (exchange->finish)
        OK(exchange->finish(w->state));
    if (number % ranks == rank)
        nanosleep(&pause, NULL);
    if (!w->boxes)
        pf_unpack(&w->t, &w->received, -1, w->to, w->after);
    CHECK_INT(go_through(&w->t.to[rank], number, false, w->after), 0);
    if (exchange->end)
        OK(exchange->end(w->state));
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
            OK(both[0].exchange->progress(both[i % DIRECTIONS].state, &done));
        finish(&both[first], 2 * run + first);
        finish(&both[!first], 2 * run + !first);
    }
}

static void check_late(const struct pf_exchange *exchange, bool beside)
{
    pencilfft_box before[MOST_RANKS], after[MOST_RANKS];
    struct transfer both[DIRECTIONS];
    int extra = strcmp(exchange->name, "alltoall") ? 1 : 0; /* which refuses uneven extents */
    const int64_t n[3] = {4 * ranks + extra, 4 * ranks, 64};
    for (int j = 0; j < ranks; j++) {
        struct pf_block x = pf_block_of(n[0], ranks, j), y = pf_block_of(n[1], ranks, j);
        before[j] = part_of(n, 0, x.offset, x.extent);
        after[j] = part_of(n, 1, y.offset, y.extent);
    }
    make(&both[0], exchange, before, after, NULL, beside);
    make(&both[1], exchange, after, before, &both[0], beside);
    if (beside)
        run_at_once(both);
    else
        run_alone(both);
    if (rank == 0)
        printf("%s %s\n", exchange->name, beside ? "at once" : "alone");
    for (int i = 0; i < DIRECTIONS; i++) {
        if (!both[i].boxes && both[i].from != both[i].to) {
            free(both[i].from);
            free(both[i].to);
        }
        free(both[i].before);
        free(both[i].after);
        end(&both[i]);
    }
}

/* ---- large messages -------------------------------------------------------------------------------------------------- */

#define MANY ((int64_t)1 << 31)
#define SPARSE ((int64_t)1 << 20)

/* Zero pages until the first write to each; not freed. */
static char *sparse_memory(int64_t bytes)
{
    char *memory = mmap(NULL, (size_t)bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED);
    madvise(memory, (size_t)bytes + 1, MADV_NOHUGEPAGE);
    return memory;
}

/* Sets a part of a box or a message, or counts its errors; every number is its first word, zero nearly everywhere, and never
 * the same twice. */
static int64_t go_through_part(const pencilfft_box *part, int64_t z_end, bool fill, size_t bytes, const int64_t stride[3],
                               char *data)
{
    int64_t wrong = 0;
    for (int64_t x = 0; x < part->extent[0]; x++)
        for (int64_t y = 0; y < part->extent[1]; y++)
            for (int64_t z = 0; z < part->extent[2]; z++) {
                bool kept = z % SPARSE == 0 || z == z_end - 1;
                uint32_t is,
                    be = (uint32_t)(((part->offset[0] + x) * 97 + part->offset[1] + y) * 1000003 + z * 7 + 1) * kept;
                char *place = data + (size_t)(x * stride[0] + y * stride[1] + z) * bytes;
                if (fill && be)
                    memcpy(place, &be, sizeof be);
                if (fill)
                    continue;
                memcpy(&is, place, sizeof is);
                wrong += is != be;
            }
    return wrong;
}

/* All parts of one side, by their place in the box or in the messages. */
static int64_t go_through_parts(const struct transfer *w, bool sent, bool fill, char *data)
{
    const pencilfft_box *mine = sent ? &w->t.from[rank] : &w->t.to[rank];
    const struct pf_parts *parts = sent ? &w->sent : &w->received;
    int64_t wrong = 0;
    for (int j = 0; j < ranks; j++) {
        const pencilfft_box *part = &parts->part[j];
        int64_t first = w->boxes ? pf_box_start(mine, part) : parts->list.start[j];
        if (j != rank)
            wrong += go_through_part(part, mine->extent[2], fill, w->t.element_bytes, w->boxes ? mine->stride : part->stride,
                                     data + first * (int64_t)w->t.element_bytes);
    }
    return wrong;
}

static void check_large(const struct pf_exchange *exchange, size_t bytes)
{
    int64_t z = (bytes == 4 ? MANY : MANY / (int64_t)bytes) / WIDE / WIDE + 8,
            narrow = exchange->moves_self && !exchange->takes_boxes ? WIDE : 1;
    const int64_t n[3] = {WIDE + narrow, WIDE + narrow, z};
    pencilfft_box before[] = {part_of(n, 0, 0, WIDE), part_of(n, 0, WIDE, narrow)};
    pencilfft_box after[] = {part_of(n, 1, 0, narrow), part_of(n, 1, narrow, WIDE)};
    struct transfer w;
    plan(&w, exchange, (struct pf_transpose){.from = before, .to = after, .element_bytes = bytes, .fields = 1});
    if (!exchange->memory) {
        w.from = sparse_memory((w.boxes ? pf_box_elements(&before[rank]) : w.sent.list.total) * (int64_t)bytes);
        w.to = sparse_memory((w.boxes ? pf_box_elements(&after[rank]) : w.received.list.total) * (int64_t)bytes);
    }
    connect_it(&w);
    if (exchange->begin)
        OK(exchange->begin(w.state, w.to));
    go_through_parts(&w, true, true, w.from);
    OK(exchange->start(w.state, w.from, w.to));
    CHECK_INT(go_through_parts(&w, false, false, w.to), 0);
    if (rank == 1)
        printf("%s: %lld bytes in one message\n", exchange->name, (long long)w.received.list.elements[0] * (long long)bytes);
    if (exchange->end)
        OK(exchange->end(w.state));
    end(&w);
}

int main(int argc, char **argv)
{
    const struct pf_exchange *exchange;
    start_tests(argc, argv, MPI_THREAD_SINGLE);
    if (argc > 1) {
        CHECK((exchange = pf_table_find(&pf_exchanges, argv[1])));
        check_large(exchange, argc > 2 ? 16 : 4);
    }
    for (int i = 0; argc == 1 && (exchange = pf_table_row(&pf_exchanges, i)); i++) {
        if (!exchange->plan || !strcmp(exchange->name, "fftw")) /* which needs FFTW's MPI library */
            continue;
        check_late(exchange, false);
        if (exchange->beside)
            check_late(exchange, true);
    }
    return end_tests();
}
