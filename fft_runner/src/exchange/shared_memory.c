/* Memory that the ranks of a node share.
 * Idea:  one rank per node makes a file of shared memory, and all ranks map the file. Each rank reserves the pages that it
 *        will write, so that memory lies near the writer and missing memory is a refusal: with MPI_Win_allocate_shared
 *        missing memory is a signal at the first write that ends the job. Data written between two barriers are read after
 *        the second; data that have been read may be overwritten after a barrier that is started then and completed later.
 * Source: T. Hoefler et al., MPI + MPI: a new hybrid approach to parallel programming with MPI plus shared memory, Computing
 *         95 (2013); posix_fallocate of POSIX.
 * Needs: MPI-3 to know a node's ranks. The environment variable PENCILFFT_RANKS_PER_NODE makes nodes smaller than the set of
 *        ranks that share memory (NUMA domains, tests). */
#include "exchange/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/failure.h"
#include "pencilfft.h"

enum { NAME_SIZE = 64, MOST_NAMES = 10000, CALL_BYTES = 64 };

void pf_shared_leave(struct pf_shared *shared)
{
    if (!shared || --shared->users > 0)
        return;
    if (shared->all_read != MPI_REQUEST_NULL)
        MPI_Wait(&shared->all_read, MPI_STATUS_IGNORE);
    if (shared->block)
        munmap(shared->block, shared->bytes);
    if (shared->file >= 0)
        close(shared->file);
    if (shared->smaller)
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
    *shared = (struct pf_shared){.users = 1, .comm = MPI_COMM_NULL, .all_read = MPI_REQUEST_NULL, .file = -1};
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

/* ---- the ranks of a node -------------------------------------------------------------------------------------- */

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

/* The whole group uses the value of its first rank. 0 if unset. */
static int wished_size(MPI_Comm group, int me, int *size)
{
    const char *text = me ? NULL : getenv("PENCILFFT_RANKS_PER_NODE");
    *size = 0;
    int status = pf_agree(text ? take_size(text, size) : PENCILFFT_OK, group);
    if (!status)
        PF_MPI(MPI_Bcast(size, 1, MPI_INT, 0, group));
    return status;
}

static int make_smaller(struct pf_shared *shared, int size)
{
    int rank;
    PF_MPI(MPI_Comm_rank(shared->comm, &rank));
    PF_MPI(MPI_Comm_split(shared->comm, rank / size, rank, &shared->comm));
    shared->smaller = true;
    PF_MPI(MPI_Comm_set_errhandler(shared->comm, MPI_ERRORS_RETURN));
    return PENCILFFT_OK;
}

/* The group is freed, or MPI ends, which has already freed the ranks of the node. */
static int attribute_deleted(MPI_Comm group, int key, void *value, void *extra)
{
    MPI_Comm *node = value;
    int ended = 0;
    (void)group, (void)key, (void)extra;
    MPI_Finalized(&ended);
    int code = ended ? MPI_SUCCESS : MPI_Comm_free(node);
    free(node);
    return code;
}

static int make_node(MPI_Comm group, int me, int key, MPI_Comm *node)
{
    MPI_Comm *kept = malloc(sizeof *kept);
    int status = pf_agree(kept ? PENCILFFT_OK : pf_fail(PENCILFFT_NO_MEMORY, "no memory for a communicator"), group);
    if (!status)
        PF_MPI_OR_DONE(MPI_Comm_split_type(group, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, node));
    if (!status)
        PF_MPI_OR_DONE(MPI_Comm_set_errhandler(*node, MPI_ERRORS_RETURN));
    if (!status) {
        *kept = *node;
        PF_MPI_OR_DONE(MPI_Comm_set_attr(group, key, kept));
        return status;
    }
done:
    free(kept);
    return status;
}

/* Plans that share a group share its nodes, too (communicators.c says why plans share). */
int pf_shared_node(MPI_Comm group, MPI_Comm *node)
{
    static int key = MPI_KEYVAL_INVALID;
    int me, there = 0;
    void *value = NULL;
    if (key == MPI_KEYVAL_INVALID)
        PF_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, attribute_deleted, &key, NULL));
    PF_MPI(MPI_Comm_rank(group, &me));
    PF_MPI(MPI_Comm_get_attr(group, key, &value, &there));
    if (!there)
        return make_node(group, me, key, node);
    *node = *(MPI_Comm *)value;
    return PENCILFFT_OK;
}

static int find_mine(struct pf_shared *shared, MPI_Comm group, int me)
{
    int size, status = wished_size(group, me, &size);
    if (!status)
        status = pf_shared_node(group, &shared->comm);
    if (!status && size > 0)
        status = make_smaller(shared, size);
    if (status)
        return status;
    PF_MPI(MPI_Comm_rank(shared->comm, &shared->local));
    return status;
}

/* Nodes are numbered in the order of their first members. */
static int number_nodes(struct pf_shared *shared, MPI_Comm group, int me, int p)
{
    int leader = me, n = 0;
    PF_MPI(MPI_Bcast(&leader, 1, MPI_INT, 0, shared->comm));
    PF_MPI(MPI_Allgather(&leader, 1, MPI_INT, shared->of, 1, MPI_INT, group));
    for (int j = 0; j < p; j++) /* leaders come before their members */
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

/* MPI's own memory in the same place is often promised but not allocated, and the program ends if memory is missing: 4 MB a
 * rank in Open MPI, and as much again. */
static const size_t left_for_mpi = (size_t)8 << 20; /* bytes a rank */

/* The place of shared memory on Linux, which Open MPI and MPICH take, too. */
static const char *const place_of_memory = "/dev/shm";

/* Ranks on this node, as the launcher says; 0 if it says nothing. */
static size_t ranks_here(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = getenv(names[i]);
        long ranks = text ? strtol(text, NULL, 10) : 0;
        if (ranks > 0)
            return (size_t)ranks;
    }
    return 0;
}

static size_t promised; /* bytes of windows that are planned, and not yet opened */

int pf_window_plan(size_t bytes, size_t members)
{
    struct statvfs room;
    size_t ranks = ranks_here();
    promised += bytes;
    if (ranks == 1 || statvfs(place_of_memory, &room) || !room.f_blocks)
        return PENCILFFT_OK;
    size_t there = (size_t)room.f_bavail * room.f_frsize, needed = (ranks ? ranks : members) * (promised + left_for_mpi);
    if (there >= needed)
        return PENCILFFT_OK;
    return pf_fail(
        PENCILFFT_NOT_POSSIBLE,
        "exchange put needs %zu bytes of shared memory on each node for its windows, 8 MB a rank left over for MPI "
        "included, and %s has %zu; make it larger, or use another exchange",
        needed, place_of_memory, there);
}

void pf_window_opened(size_t bytes)
{
    promised -= bytes;
}

static int no_room(const struct pf_shared *shared, const char *why)
{
    return pf_fail(
        PENCILFFT_NOT_POSSIBLE,
        "exchange node needs %zu bytes of shared memory for each of its groups on a node, and 8 MB a rank left over "
        "for MPI, and there is no room (%s); make /dev/shm larger, or use another exchange",
        shared->bytes, why);
}

/* Called by the first rank of the node. Two plans of one process, and other processes of that number, have other names. */
static int create_file(struct pf_shared *shared, char name[NAME_SIZE])
{
    struct rlimit most;
    if (!getrlimit(RLIMIT_FSIZE, &most) && most.rlim_cur != RLIM_INFINITY && most.rlim_cur < shared->bytes)
        return no_room(shared, "files are limited, see ulimit -f"); /* a larger file is a signal that ends the job */
    for (int i = 0; i < MOST_NAMES && shared->file < 0; i++) {
        snprintf(name, NAME_SIZE, "/pencilfft-%ld-%d", (long)getpid(), i);
        shared->file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
        if (shared->file < 0 && errno != EEXIST)
            break;
    }
    if (shared->file < 0) {
        *name = '\0';
        return no_room(shared, strerror(errno));
    }
    return ftruncate(shared->file, (off_t)shared->bytes) ? no_room(shared, strerror(errno)) : PENCILFFT_OK;
}

static int map_file(struct pf_shared *shared, const char *name)
{
    if (!*name)
        return no_room(shared, "its first rank made none");
    if (shared->file < 0 && (shared->file = shm_open(name, O_RDWR, 0)) < 0)
        return no_room(shared, strerror(errno));
    void *block = mmap(NULL, shared->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared->file, 0);
    if (block == MAP_FAILED)
        return no_room(shared, strerror(errno));
    shared->block = block;
    return PENCILFFT_OK;
}

static int map_together(struct pf_shared *shared, char name[NAME_SIZE], int status)
{
    PF_MPI(MPI_Bcast(name, NAME_SIZE, MPI_CHAR, 0, shared->comm));
    if (!status)
        status = map_file(shared, name);
    PF_MPI(MPI_Barrier(shared->comm));
    return status;
}

/* The name is removed as soon as all ranks have the file or MPI fails, so that a program that ends leaves no file. */
int pf_shared_open(struct pf_shared *shared, size_t bytes)
{
    char name[NAME_SIZE] = "";
    int ranks;
    PF_MPI(MPI_Comm_size(shared->comm, &ranks));
    size_t calls = (bytes + CALL_BYTES - 1) / CALL_BYTES * CALL_BYTES;
    shared->bytes = calls + (size_t)ranks * CALL_BYTES;
    int status = map_together(shared, name, shared->local ? PENCILFFT_OK : create_file(shared, name));
    if (!shared->local && *name)
        shm_unlink(name);
    if (shared->block)
        shared->call = (_Atomic int *)(shared->block + calls);
    return status;
}

int pf_shared_reserve(const struct pf_shared *shared, size_t start, size_t bytes)
{
    int code = 0;
    do
        code = bytes ? posix_fallocate(shared->file, (off_t)start, (off_t)bytes) : 0;
    while (code == EINTR);
    return code ? no_room(shared, strerror(code)) : PENCILFFT_OK;
}

int pf_shared_close(struct pf_shared *shared)
{
    int ranks, status = PENCILFFT_OK;
    struct statvfs room;
    PF_MPI(MPI_Comm_size(shared->comm, &ranks));
    if (!shared->local && !(status = pf_shared_reserve(shared, 0, shared->bytes)) && !fstatvfs(shared->file, &room) &&
        room.f_blocks && room.f_bavail < left_for_mpi / room.f_frsize * (size_t)ranks)
        status = no_room(shared, "too little would be left");
    close(shared->file);
    shared->file = -1;
    return status;
}

void pf_shared_map(const struct pf_shared *shared)
{
#if defined(MADV_POPULATE_WRITE)
    madvise(shared->block, shared->bytes, MADV_POPULATE_WRITE); /* nothing depends on the answer */
#else
    (void)shared;
#endif
}

int pf_shared_meet(struct pf_shared *shared)
{
    atomic_thread_fence(memory_order_seq_cst);
    PF_MPI(MPI_Barrier(shared->comm));
    atomic_thread_fence(memory_order_seq_cst);
    return PENCILFFT_OK;
}

int pf_shared_meet_in(struct pf_shared *shared, int call)
{
    const size_t step = CALL_BYTES / sizeof *shared->call;
    int ranks;
    PF_MPI(MPI_Comm_size(shared->comm, &ranks));
    atomic_store_explicit(&shared->call[(size_t)shared->local * step], call, memory_order_relaxed);
    int status = pf_shared_meet(shared);
    for (int i = 0; i < ranks && !status; i++)
        if (atomic_load_explicit(&shared->call[(size_t)i * step], memory_order_relaxed) != call)
            status =
                pf_fail(PENCILFFT_MISMATCH,
                        "exchange node: the calls differ between ranks, such as forward on one and backward on another; "
                        "set PENCILFFT_CHECK_CALLS=1 to see them");
    return status;
}

int pf_shared_let_write(struct pf_shared *shared)
{
    atomic_thread_fence(memory_order_seq_cst);
    PF_MPI(MPI_Ibarrier(shared->comm, &shared->all_read));
    return PENCILFFT_OK;
}

int pf_shared_wait_to_write(struct pf_shared *shared)
{
    PF_MPI(MPI_Wait(&shared->all_read, MPI_STATUS_IGNORE));
    atomic_thread_fence(memory_order_seq_cst);
    return PENCILFFT_OK;
}
