/* One message that is larger than an int counts, really moved, by one exchange:
 *     mpirun -n 2 large_test EXCHANGE       2^31 numbers of 4 bytes and some more, 8.6 GB
 *     mpirun -n 2 large_test EXCHANGE 16    2^27 numbers of 16 bytes and some more, 2.1 GB
 * Rank 0 sends rank 1 nearly all; if all messages have equal length, all of them are that large. The sent data are zero
 * except in a few places, and only these need memory; the received data are checked in every place. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "exchange/exchange.h"
#include "exchange/messages.h"
#include "geometry/geometry.h"

enum { WIDE = 64 };
#define MANY ((int64_t)1 << 31)
#define SPARSE ((int64_t)1 << 20)

static int me;

static pencilfft_box box(int axis, int64_t offset, int64_t extent, int64_t across, int64_t z)
{
    pencilfft_box b = {.extent = {across, across, z}};
    b.offset[axis] = offset;
    b.extent[axis] = extent;
    b.stride[2] = 1;
    b.stride[1] = z;
    b.stride[0] = b.extent[1] * z;
    return b;
}

/* Zero pages until the first write to each; not freed. */
static char *sparse_memory(int64_t bytes)
{
    char *memory = mmap(NULL, (size_t)bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED);
    madvise(memory, (size_t)bytes + 1, MADV_NOHUGEPAGE);
    return memory;
}

/* Value of element (x, y, z) of the whole array: zero nearly everywhere, and never the same twice. */
static uint32_t value(const int64_t at[3], int64_t z_end)
{
    bool kept = at[2] % SPARSE == 0 || at[2] == z_end - 1;
    return kept ? (uint32_t)((at[0] * 97 + at[1]) * 1000003 + at[2] * 7 + 1) : 0;
}

/* Sets the message from member i to j, or the part of a box, or counts its errors; every number is its first word. */
static int64_t go_through(const pencilfft_box *part, int64_t z_end, bool fill, size_t bytes, const int64_t stride[3],
                          char *data)
{
    int64_t wrong = 0;
    for (int64_t x = 0; x < part->extent[0]; x++)
        for (int64_t y = 0; y < part->extent[1]; y++)
            for (int64_t z = 0; z < part->extent[2]; z++) {
                int64_t at[3] = {part->offset[0] + x, part->offset[1] + y, z};
                uint32_t is, be = value(at, z_end);
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

struct buffers {
    char *from, *to;
};

static struct buffers make_buffers(const struct pf_transpose *t, const struct pf_parts *sent,
                                   const struct pf_parts *received, bool boxes)
{
    int64_t bytes = (int64_t)t->element_bytes;
    return (struct buffers){
        sparse_memory((boxes ? pf_box_elements(&t->from[me]) : sent->list.total) * bytes),
        sparse_memory((boxes ? pf_box_elements(&t->to[me]) : received->list.total) * bytes),
    };
}

/* All parts of one side, by their place in the box or in the messages. */
static int64_t go_through_parts(const struct pf_transpose *t, const struct pf_parts *parts, bool sent, bool boxes, bool fill,
                                char *data)
{
    const pencilfft_box *mine = sent ? &t->from[me] : &t->to[me];
    int64_t wrong = 0, z_end = mine->extent[2];
    for (int j = 0; j < t->p; j++) {
        const pencilfft_box *part = &parts->part[j];
        int64_t start = boxes ? pf_box_start(mine, part) : parts->list.start[j];
        if (j != me)
            wrong += go_through(part, z_end, fill, t->element_bytes, boxes ? mine->stride : part->stride,
                                data + start * (int64_t)t->element_bytes);
    }
    return wrong;
}

static void check_exchange(const struct pf_exchange *exchange, size_t bytes)
{
    bool boxes = exchange->takes == PF_BOXES, even = exchange->moves_self;
    int64_t z = (bytes == 4 ? MANY : MANY / (int64_t)bytes) / WIDE / WIDE + 8, narrow = even ? WIDE : 1, all = WIDE + narrow;
    pencilfft_box before[] = {box(0, 0, WIDE, all, z), box(0, WIDE, narrow, all, z)};
    pencilfft_box after[] = {box(1, 0, narrow, all, z), box(1, narrow, WIDE, all, z)};
    struct pf_transpose t =
        {.group = MPI_COMM_WORLD, .p = 2, .me = me, .from = before, .to = after, .element_bytes = bytes, .fields = 1};
    struct pf_parts sent, received;
    void *state;
    CHECK_INT(pf_parts_make(&t, true, 2, &sent), PENCILFFT_OK);
    CHECK_INT(pf_parts_make(&t, false, 2, &received), PENCILFFT_OK);
    CHECK_INT(exchange->plan(&t, boxes ? NULL : &sent.list, boxes ? NULL : &received.list, &state), PENCILFFT_OK);
    struct buffers b = make_buffers(&t, &sent, &received, boxes);
    if (exchange->connect)
        CHECK_INT(exchange->connect(state, b.from, b.to), PENCILFFT_OK);
    if (exchange->memory)
        b.from = b.to = exchange->memory(state);
    if (exchange->begin)
        CHECK_INT(exchange->begin(state, b.to), PENCILFFT_OK);
    go_through_parts(&t, &sent, true, boxes, true, b.from);
    CHECK_INT(exchange->start(state, b.from, b.to), PENCILFFT_OK);
    CHECK_INT(go_through_parts(&t, &received, false, boxes, false, b.to), 0);
    if (me == 1)
        printf("%s: %lld bytes in one message\n", exchange->name, (long long)received.list.elements[0] * (long long)bytes);
    if (exchange->end)
        CHECK_INT(exchange->end(state), PENCILFFT_OK);
    exchange->destroy(state);
    pf_parts_release(&sent);
    pf_parts_release(&received);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    const struct pf_exchange *exchange = argc > 1 ? pf_table_find(&pf_exchanges, argv[1]) : NULL;
    CHECK(exchange != NULL);
    if (exchange)
        check_exchange(exchange, argc > 2 ? 16 : 4);
    MPI_Finalize();
    return check_result();
}
