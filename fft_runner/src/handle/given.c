/* Lengths of buffers.
 * Idea:  all buffers of all plans are in a table in the order of their addresses. Ranks usually give buffers of the same
 *        plan, and each rank computes the lengths on all ranks: then all refuse a buffer that is too short on one of them.
 * Cost:  a search by halves for each array of a call; a look at all ranks for a buffer of another plan. */
#include "handle/handle.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/blocks.h"
#include "pencilfft.h"

static struct {
    atomic_flag taken; /* by a thread, for as long as a search takes */
    struct pf_given *row;
    int n, room;
    int64_t numbers;
} table = {.taken = ATOMIC_FLAG_INIT};

static void take(void)
{
    while (atomic_flag_test_and_set(&table.taken))
        ;
}

static void leave(void)
{
    atomic_flag_clear(&table.taken);
}

/* The number of rows that start at the address or before. */
static int rows_up_to(const char *address)
{
    int low = 0, high = table.n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if ((uintptr_t)table.row[middle].start <= (uintptr_t)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int pf_given_add(const struct pf_given *given)
{
    int status = PENCILFFT_OK;
    take();
    if (table.n == table.room) {
        int room = 2 * table.room + 16;
        struct pf_given *row = realloc(table.row, (size_t)room * sizeof *row);
        if (row) {
            table.row = row;
            table.room = room;
        } else
            status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for a buffer");
    }
    if (!status) {
        int at = rows_up_to(given->start);
        memmove(&table.row[at + 1], &table.row[at], (size_t)(table.n++ - at) * sizeof *table.row);
        table.row[at] = *given;
        table.row[at].number = ++table.numbers;
    }
    leave();
    return status;
}

void pf_given_forget(const void *owner)
{
    int left = 0;
    take();
    for (int i = 0; i < table.n; i++)
        if (table.row[i].owner != owner)
            table.row[left++] = table.row[i];
    table.n = left;
    if (!left) {
        free(table.row);
        table.row = NULL;
        table.room = 0;
    }
    leave();
}

bool pf_given_find(const void *address, struct pf_given *given)
{
    take();
    int at = rows_up_to(address) - 1;
    int64_t behind = at < 0 ? 0 : (const char *)address - table.row[at].start;
    bool found = at >= 0 && (behind == 0 || behind < table.row[at].bytes);
    if (found) {
        *given = table.row[at];
        given->bytes -= behind;
    }
    leave();
    return found;
}

static int64_t wanted_on(const struct pf_wanted *wanted, int rank)
{
    return pf_larger(wanted->bytes_on(wanted->of, wanted->array, rank), wanted->bytes_on(wanted->of, wanted->also, rank));
}

/* Whether both have the same ranks in the same order, so that buffers of one are compared with arrays of the other. */
static int are_alike(const struct pf_handle *owner, MPI_Comm comm, int ranks, bool *alike)
{
    int found = MPI_UNEQUAL;
    *alike = false;
    if (owner->ranks == ranks)
        PF_MPI(MPI_Comm_compare(owner->all, comm, &found));
    *alike = found == MPI_IDENT || found == MPI_CONGRUENT;
    return PENCILFFT_OK;
}

int pf_given_check(const struct pf_wanted *wanted, MPI_Comm comm, int rank, int ranks)
{
    struct pf_given given;
    bool alike;
    if (!pf_given_find(wanted->start, &given) || (given.owner == wanted->of && given.start == wanted->start))
        return PENCILFFT_OK;
    bool at_start = given.start == wanted->start;
    struct pf_fitting now = {given.number, wanted->array, wanted->also}, *last = at_start ? wanted->fitting : NULL;
    if (last && last->number == now.number && last->array == now.array && last->also == now.also)
        return PENCILFFT_OK;
    int64_t needs = wanted_on(wanted, rank);
    int status = are_alike(given.owner, comm, ranks, &alike), shortest = given.bytes < needs ? rank : ranks;
    for (int j = 0; j < ranks && alike && at_start && !status; j++)
        if (given.bytes_on(given.owner, j) < wanted_on(wanted, j)) {
            shortest = j;
            needs = wanted_on(wanted, j);
            given.bytes = given.bytes_on(given.owner, j);
            break;
        }
    if (last && !status && shortest == ranks)
        *last = now;
    if (status || shortest == ranks)
        return status;
    return pf_fail(
        PENCILFFT_BAD_CALL,
        "%s: `%s` lies in a buffer of pencilfft_alloc() that has %lld bytes from there on, and the array has %lld "
        "on rank %d; give a longer buffer, such as one of this plan",
        wanted->function, wanted->name, (long long)given.bytes, (long long)needs, shortest);
}
