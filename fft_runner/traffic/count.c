#include "count.h"

#include <stdlib.h>
#include <string.h>

#include "windows.h"

static __thread struct list *recorded;
static const uint64_t outside = UINT64_MAX; /* the key of processes that are not in MPI_COMM_WORLD */

uint64_t size_of(MPI_Datatype type)
{
    MPI_Count size = 0;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
        return 0;
    return (uint64_t)size;
}

static void count_now(struct counted one)
{
    if (!traffic.counting)
        return;
    if (one.key != outside) {
        window_add(one.key, one.bytes, one.messages);
        return;
    }
    traffic.outside_bytes += one.bytes;
    traffic.outside_messages += one.messages;
}

static void append(struct list *list, struct counted one)
{
    if (list->used == list->places) {
        struct counted *larger = realloc(list->at, (2 * list->places + 1) * sizeof *larger);
        if (!larger) {
            traffic.failed = true;
            return;
        }
        list->at = larger;
        list->places = 2 * list->places + 1;
    }
    list->at[list->used++] = one;
}

void count(const struct members *m, enum kind kind, int member, uint64_t bytes, uint64_t messages)
{
    if (!recorded)
        window_sent();
    if (member < 0 || member >= m->size || !messages || m->world[member] == traffic.rank)
        return;
    struct counted one = {outside, bytes, messages};
    if (m->world[member] >= 0)
        one.key = pair_key(m->number, kind, m->world[member]);
    if (recorded)
        append(recorded, one);
    else
        count_now(one);
}

void record_begin(struct list *list)
{
    *list = (struct list){.used = 0};
    recorded = list;
}

void record_end(void)
{
    recorded = NULL;
}

/* ---- persistent requests: a hash map from the handle to its list --------------------------------------------------- */

struct kept {
    uint64_t handle; /* 0: empty */
    struct list list;
};

static struct kept *map;
static size_t places, used;

static uint64_t handle_of(MPI_Request request)
{
    uint64_t handle = 0;
    memcpy(&handle, &request, sizeof request);
    return handle + 1;
}

static struct kept *place(struct kept *in, size_t size, uint64_t handle)
{
    size_t i = mixed(handle) & (size - 1);
    while (in[i].handle && in[i].handle != handle)
        i = (i + 1) & (size - 1);
    return in + i;
}

static bool grow(void)
{
    size_t size = places ? 2 * places : 16;
    struct kept *larger = calloc(size, sizeof *larger);
    if (!larger)
        return false;
    for (size_t i = 0; i < places; i++)
        if (map[i].handle)
            *place(larger, size, map[i].handle) = map[i];
    free(map);
    map = larger;
    places = size;
    return true;
}

void request_keep(MPI_Request request, struct list list)
{
    if (2 * used >= places && !grow()) {
        traffic.failed = true;
        free(list.at);
        return;
    }
    struct kept *found = place(map, places, handle_of(request));
    used += !found->handle;
    free(found->list.at);
    *found = (struct kept){handle_of(request), list};
}

void request_start(MPI_Request request)
{
    struct kept *found = places ? place(map, places, handle_of(request)) : NULL;
    window_sent();
    for (size_t i = 0; found && i < found->list.used; i++)
        count_now(found->list.at[i]);
}

/* The handle keeps its place in the map, with an empty list: handles of freed requests are used again. */
void request_forget(MPI_Request request)
{
    struct kept *found = places ? place(map, places, handle_of(request)) : NULL;
    if (!found || !found->handle)
        return;
    free(found->list.at);
    found->list = (struct list){.used = 0};
}
