/* strided_copy.c against three plain loops, for every pair of memory orders. */
#include <stdlib.h>

#include "check.h"
#include "geometry/strided_copy.h"
#include "speed/tuning.h"

static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

/* The way of a copy, which must not change the result. */
struct way {
    size_t element_bytes;
    size_t begins; /* bytes from a cache line to the target */
    int threads;
    bool from_memory, to_memory, past_caches;
};
static const struct way ways[] = {
    {16, 0, 1, false, false, false}, {16, 0, 2, false, false, false}, {16, 0, 3, false, false, false},
    {16, 0, 1, true, false, true},   {16, 4, 1, true, true, true},    {16, 32, 2, true, true, true},
    {16, 0, 3, true, false, true},   {16, 0, 1, true, false, false},  {16, 16, 1, false, true, false},
    {16, 0, 2, true, true, false},   {16, 0, 1, false, true, true},   {8, 0, 1, false, false, false},
    {8, 8, 1, true, true, true},     {8, 20, 2, true, false, true},   {8, 8, 3, false, true, false},
    {4, 0, 1, false, false, false},  {4, 0, 2, true, false, true},    {4, 12, 1, true, true, true},
    {4, 4, 1, false, true, false},
};

static int64_t dense(const int64_t extent[3], const int order[3], int64_t stride[3])
{
    int64_t next = 1;
    for (int i = 2; i >= 0; i--) {
        stride[order[i]] = next;
        next *= extent[order[i]];
    }
    return next;
}

static int64_t wrong_elements(const struct pf_copy *c, size_t bytes, const char *from, const char *to)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < c->extent[0]; i++)
        for (int64_t j = 0; j < c->extent[1]; j++)
            for (int64_t k = 0; k < c->extent[2]; k++) {
                int64_t at = c->from_start + i * c->from_stride[0] + j * c->from_stride[1] + k * c->from_stride[2];
                int64_t there = c->to_start + i * c->to_stride[0] + j * c->to_stride[1] + k * c->to_stride[2];
                wrong += memcmp(from + at * (int64_t)bytes, to + there * (int64_t)bytes, bytes) != 0;
            }
    return wrong;
}

static bool is_zero(const char *of, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (of[i])
            return false;
    return true;
}

/* Every element differs from the others, in each of its parts, and none is zero. */
static void number(char *of, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(int); i++) {
        int value = (int)i + 1;
        memcpy(of + i * sizeof value, &value, sizeof value);
    }
}

/* Copy a part of that extent out of an array that is larger by 1 each way, into a dense array. */
static void copy_is_exact(const int64_t extent[3], const int from_order[3], const int to_order[3], const struct way *way)
{
    enum { LINE = 64, BEFORE = 3 };
    int64_t larger[3] = {extent[0] + 1, extent[1] + 1, extent[2] + 1};
    size_t bytes = way->element_bytes;
    struct pf_copy copy = {
        .extent = {extent[0], extent[1], extent[2]},
        .to_start = BEFORE,
        .fields = 1,
        .threads = way->threads,
        .from_memory = way->from_memory,
        .to_memory = way->to_memory,
        .past_caches = way->past_caches,
    };
    size_t source = (size_t)dense(larger, from_order, copy.from_stride) * bytes;
    size_t target = (size_t)dense(extent, to_order, copy.to_stride) * bytes;
    copy.from_start = copy.from_stride[0] + copy.from_stride[1] + copy.from_stride[2];
    char *from = malloc(source), *memory = calloc(1, LINE + way->begins + target + 2 * BEFORE * bytes);
    CHECK(from && memory);
    if (from && memory) {
        char *to = memory + (LINE - (uintptr_t)memory % LINE) % LINE + way->begins;
        number(from, source);
        pf_copy_run(&copy, bytes, from, to);
        CHECK_INT(wrong_elements(&copy, bytes, from, to), 0);
        CHECK(is_zero(to, BEFORE * bytes) && is_zero(to + BEFORE * bytes + target, BEFORE * bytes));
    }
    free(from);
    free(memory);
}

int main(void)
{
    const int64_t extents[][3] = {{1, 1, 1},  {2, 3, 4},  {17, 5, 33}, {1, 16, 16},
                                  {40, 1, 7}, {3, 35, 1}, {0, 2, 2},   {150, 2, 3}};
    pf_tuning.thread_bytes = 0; /* use threads at any size */
    for (size_t e = 0; e < sizeof extents / sizeof extents[0]; e++)
        for (int from = 0; from < 6; from++)
            for (int to = 0; to < 6; to++)
                for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++)
                    copy_is_exact(extents[e], orders[from], orders[to], &ways[way]);
    return check_result();
}
