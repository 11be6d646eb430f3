/* Memory that the ranks of a node share.
 * Idea:  one rank per node allocates, the others map its memory. What is written between two barriers is read after the
 *        second; what was read may be overwritten after a barrier that is started then and completed later.
 * Source: MPI 3.1, sections 6.4.2 and 11.2.3; T. Hoefler et al., MPI + MPI: a new hybrid approach to parallel programming
 *         with MPI plus shared memory, Computing 95 (2013).
 * Needs: MPI-3. The environment variable PENCILFFT_RANKS_PER_NODE makes nodes smaller than the set of ranks that share
 *        memory (NUMA domains, tests). */
#include "exchange/shared_memory.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "common/failure.h"
#include "pencilfft.h"

enum { ALIGNMENT = 64 };

void pf_shared_leave(struct pf_shared *shared)
{
    if (!shared || --shared->users > 0)
        return;
    if (shared->all_read != MPI_REQUEST_NULL)
        MPI_Wait(&shared->all_read, MPI_STATUS_IGNORE);
    if (shared->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(shared->window);
        MPI_Win_free(&shared->window);
    }
    if (shared->comm != MPI_COMM_NULL)
        MPI_Comm_free(&shared->comm);
    free(shared->of);
    free(shared->members);
    free(shared->first);
    free(shared);
}

struct pf_shared *pf_shared_make(size_t p)
{
    struct pf_shared *shared = calloc(1, sizeof *shared);
    if (!shared)
        return NULL;
    *shared = (struct pf_shared){1, MPI_COMM_NULL, MPI_WIN_NULL, MPI_REQUEST_NULL, .block = NULL};
    shared->of = calloc(p, sizeof *shared->of);
    shared->members = calloc(p, sizeof *shared->members);
    shared->first = calloc(p + 1, sizeof *shared->first); /* there are at most as many nodes as members */
    if (shared->of && shared->members && shared->first)
        return shared;
    pf_shared_leave(shared);
    return NULL;
}

struct pf_shared *pf_shared_join(struct pf_shared *shared)
{
    shared->users++;
    return shared;
}

/* ---- who shares memory with whom ------------------------------------------------------------------------------ */

static int take_size(const char *text, int *size)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < 1 || value > INT_MAX)
        return pf_fail(PENCILFFT_BAD_CALL,
                       "the environment variable PENCILFFT_RANKS_PER_NODE is '%.60s'; it must be a "
                       "number of ranks, at least 1, or be unset",
                       text);
    *size = (int)value;
    return PENCILFFT_OK;
}

/* The whole group uses the value of its first rank. 0 when unset. */
static int wished_size(MPI_Comm group, int me, int *size)
{
    const char *text = me ? NULL : getenv("PENCILFFT_RANKS_PER_NODE");
    *size = 0;
    int status = pf_agree(text ? take_size(text, size) : PENCILFFT_OK, group);
    if (!status)
        PF_MPI(MPI_Bcast(size, 1, MPI_INT, 0, group));
    return status;
}

static int make_smaller(MPI_Comm *node, int size)
{
    int rank;
    MPI_Comm smaller;
    PF_MPI(MPI_Comm_rank(*node, &rank));
    PF_MPI(MPI_Comm_split(*node, rank / size, rank, &smaller));
    PF_MPI(MPI_Comm_free(node));
    *node = smaller;
    return PENCILFFT_OK;
}

static int find_mine(struct pf_shared *shared, MPI_Comm group, int me)
{
    int status = PENCILFFT_OK, size;
    if ((status = wished_size(group, me, &size)))
        return status;
    PF_MPI(MPI_Comm_split_type(group, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &shared->comm));
    if (size > 0 && (status = make_smaller(&shared->comm, size)))
        return status;
    PF_MPI(MPI_Comm_set_errhandler(shared->comm, MPI_ERRORS_RETURN));
    PF_MPI(MPI_Comm_rank(shared->comm, &shared->local));
    return status;
}

/* Nodes are numbered in the order of their first members. */
static int number_nodes(struct pf_shared *shared, MPI_Comm group, int me, int p)
{
    int leader = me, n = 0;
    PF_MPI(MPI_Bcast(&leader, 1, MPI_INT, 0, shared->comm));
    PF_MPI(MPI_Allgather(&leader, 1, MPI_INT, shared->of, 1, MPI_INT, group));
    for (int j = 0; j < p; j++) /* leaders come before those they lead */
        shared->of[j] = shared->of[j] == j ? shared->n++ : shared->of[shared->of[j]];
    shared->mine = shared->of[me];
    for (int i = 0; i < shared->n; i++) {
        for (int j = 0; j < p; j++)
            if (shared->of[j] == i)
                shared->members[n++] = j;
        shared->first[i + 1] = n;
    }
    return PENCILFFT_OK;
}

int pf_shared_find(struct pf_shared *shared, MPI_Comm group)
{
    int me, p, status = PENCILFFT_OK;
    PF_MPI(MPI_Comm_rank(group, &me));
    PF_MPI(MPI_Comm_size(group, &p));
    if (!(status = find_mine(shared, group, me)))
        status = number_nodes(shared, group, me, p);
    return status;
}

/* ---- the memory ------------------------------------------------------------------------------------------------- */

/* MPI libraries keep shared memory there, and some hang when it is full. */
int pf_shared_room(const struct pf_shared *shared, size_t bytes)
{
    static const char place[] = "/dev/shm";
    struct statvfs room;
    if (shared->local || statvfs(place, &room) || bytes / room.f_frsize < room.f_bavail)
        return PENCILFFT_OK;
    return pf_fail(PENCILFFT_NOT_POSSIBLE,
                   "exchange node needs %zu bytes of shared memory on a node and %s has %llu left; "
                   "make it larger or use another exchange",
                   bytes, place, (unsigned long long)room.f_bavail * room.f_frsize);
}

int pf_shared_allocate(struct pf_shared *shared, size_t bytes)
{
    int unit;
    MPI_Aint mine = shared->local ? 0 : (MPI_Aint)(bytes + ALIGNMENT), size;
    PF_MPI(MPI_Win_allocate_shared(mine, 1, MPI_INFO_NULL, shared->comm, &shared->block, &shared->window));
    PF_MPI(MPI_Win_set_errhandler(shared->window, MPI_ERRORS_RETURN));
    PF_MPI(MPI_Win_shared_query(shared->window, 0, &size, &unit, &shared->block));
    PF_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, shared->window));
    /* By the same amount on all ranks, because pages begin at multiples of it. */
    shared->block += (ALIGNMENT - (uintptr_t)shared->block % ALIGNMENT) % ALIGNMENT;
    return PENCILFFT_OK;
}

int pf_shared_meet(struct pf_shared *shared)
{
    PF_MPI(MPI_Win_sync(shared->window));
    PF_MPI(MPI_Barrier(shared->comm));
    PF_MPI(MPI_Win_sync(shared->window));
    return PENCILFFT_OK;
}

int pf_shared_let_write(struct pf_shared *shared)
{
    PF_MPI(MPI_Win_sync(shared->window));
    PF_MPI(MPI_Ibarrier(shared->comm, &shared->all_read));
    return PENCILFFT_OK;
}

int pf_shared_wait_to_write(struct pf_shared *shared)
{
    PF_MPI(MPI_Wait(&shared->all_read, MPI_STATUS_IGNORE));
    PF_MPI(MPI_Win_sync(shared->window));
    return PENCILFFT_OK;
}
