/* One message that is larger than an int counts, really moved, by one exchange:
 *     mpirun -n 2 large_test EXCHANGE       2^31 numbers of 4 bytes and some more, 8.6 GB
 *     mpirun -n 2 large_test EXCHANGE 16    2^27 numbers of 16 bytes and some more, 2.1 GB
 * Rank 0 sends rank 1 nearly all; if all messages have equal length, all of them are that large. The sent data are zero
 * except in a few places, and only these need memory; the received data are checked in every place. */
#include <sys/mman.h>

#include "driver.h"
#include "exchange/exchange.h"
#include "exchange/messages.h"
#include "geometry/geometry.h"

enum { WIDE = 64 };

struct transfer {
    const struct pf_exchange *exchange;
    struct pf_transpose t;
    struct pf_parts sent, received;
    bool boxes; /* instead of messages */
    void *state, *from, *to; /* send buffer and receive buffer */
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
    struct transfer w = {.exchange = exchange, .boxes = exchange->takes_boxes};
    w.t = (struct pf_transpose){.group = MPI_COMM_WORLD,
                                .p = ranks,
                                .me = rank,
                                .from = before,
                                .to = after,
                                .element_bytes = bytes,
                                .fields = 1};
    OK(pf_parts_make(&w.t, true, 2, &w.sent));
    OK(pf_parts_make(&w.t, false, 2, &w.received));
    OK(pf_exchange_plan(exchange, &w.t, &w.sent, &w.received, &w.state));
    if (!exchange->memory) {
        w.from = sparse_memory((w.boxes ? pf_box_elements(&before[rank]) : w.sent.list.total) * (int64_t)bytes);
        w.to = sparse_memory((w.boxes ? pf_box_elements(&after[rank]) : w.received.list.total) * (int64_t)bytes);
    }
    if (exchange->connect)
        OK(exchange->connect(w.state, w.from, w.to));
    if (exchange->memory)
        w.from = w.to = exchange->memory(w.state);
    if (exchange->begin)
        OK(exchange->begin(w.state, w.to));
    go_through_parts(&w, true, true, w.from);
    OK(exchange->start(w.state, w.from, w.to));
    CHECK_INT(go_through_parts(&w, false, false, w.to), 0);
    if (rank == 1)
        printf("%s: %lld bytes in one message\n", exchange->name, (long long)w.received.list.elements[0] * (long long)bytes);
    if (exchange->end)
        OK(exchange->end(w.state));
    pf_exchange_destroy(exchange, w.state);
    pf_parts_release(&w.sent);
    pf_parts_release(&w.received);
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_SINGLE);
    const struct pf_exchange *exchange = pf_table_find(&pf_exchanges, argc > 1 ? argv[1] : "");
    CHECK(exchange && exchange->plan);
    if (!check_failures)
        check_large(exchange, argc > 2 ? 16 : 4);
    return end_tests();
}
