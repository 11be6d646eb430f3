/* Transpose by one-sided messages: MPI_Put between two fences.
 * Idea:  each rank writes its messages to their places in the memory of the receivers. The first fence opens the run when
 *        all ranks of the group have read what arrived before; the second returns when everything has arrived. The window is
 *        memory that MPI allocates, because MPI may then place it where the ranks of a node copy into it directly: one copy
 *        instead of the two through MPI's own buffers.
 * Source: MPI 4.0, sections 12.2 and 12.5; R. Gerstenberger, M. Besta, T. Hoefler, Enabling highly-scalable remote memory
 *         access programming with MPI-3 one sided, SC13.
 * Cost:  p - 1 messages a rank and two fences, each at least a barrier of the group; an empty part is not sent. The window
 *        takes the place of the plan's buffers, and both directions of an exchange share it.
 * Needs: a window of MPI for each group; with Open MPI 4, a group on one node, or one of its ranks on each node; over TCP
 *        also OMPI_MCA_osc=pt2pt,sm */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/message_counts.h"
#include "exchange/shared_memory.h"

enum { ALIGNMENT = 64 };

/* The memory that the others write to. */
struct window {
    int users; /* directions; freed with the last */
    MPI_Win win;
    char *block, *base; /* as allocated, and from its first aligned byte; NULL before allocation */
    size_t planned;     /* bytes, until it is open */
};

struct put {
    struct pf_calls calls;
    struct pf_messages *sent, *received; /* of the plan; starts count from the base */
    struct window *window;               /* of both directions */
    MPI_Aint *target;                    /* by member: bytes from the start of its window to the place of our message */
};

static void leave(struct window *window)
{
    if (!window || --window->users > 0)
        return;
    pf_window_opened(window->planned);
    if (window->win != MPI_WIN_NULL)
        MPI_Win_free(&window->win);
    free(window);
}

static void release(void *state)
{
    struct put *a = state;
    leave(a->window);
    pf_calls_release(&a->calls);
    free(a->target);
}

static int64_t whole_lines(const struct put *a, int64_t elements)
{
    int64_t line = ALIGNMENT / (int64_t)a->calls.bytes;
    return (elements + line - 1) / line * line;
}

static size_t window_bytes(const struct put *a)
{
    return (size_t)(whole_lines(a, a->sent->total) + whole_lines(a, a->received->total)) * a->calls.bytes + ALIGNMENT;
}

static int join(struct put *a, const struct put *other)
{
    if (other) {
        a->window = other->window;
        a->window->users++;
    } else if ((a->window = calloc(1, sizeof *a->window)))
        *a->window = (struct window){.users = 1, .win = MPI_WIN_NULL};
    a->target = calloc((size_t)a->calls.p, sizeof *a->target);
    if (!a->window || !a->target)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the message lists of %d ranks", a->calls.p);
    if (other || a->calls.p == 1)
        return PENCILFFT_OK;
    a->window->planned = window_bytes(a);
    return pf_window_plan(a->window->planned, (size_t)a->calls.p);
}

static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void *state)
{
    struct put *a = state;
    a->sent = sent;
    a->received = received;
    int status = pf_calls_plan(t, sent, received, &a->calls);
    return status ? status : join(a, t->other_direction);
}

/* ---- connecting --------------------------------------------------------------------------------------------- */

/* The second direction sends from the part where the first receives. */
static void lay_out(struct put *a, bool first)
{
    struct pf_messages *lower = first ? a->sent : a->received, *upper = first ? a->received : a->sent;
    int64_t middle = whole_lines(a, lower->total), total = middle + whole_lines(a, upper->total);
    for (int i = 0; i < upper->p; i++)
        upper->start[i] += middle;
    lower->total = upper->total = total;
}

/* Open MPI answers MPI_ERR_WIN if none of its components carries one-sided messages between the ranks: over TCP, Open MPI 4
 * needs component pt2pt, which Debian switches off. */
static int opened(int code, const struct put *a)
{
    int kind = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        PF_MPI(MPI_Error_class(code, &kind));
    if (kind == MPI_ERR_WIN)
        return pf_fail(PENCILFFT_NOT_POSSIBLE,
                       "exchange put needs one-sided messages, and this MPI has none between the nodes of a group of %d "
                       "ranks; use another exchange, or set OMPI_MCA_osc=pt2pt,sm if this is Open MPI 4 over TCP",
                       a->calls.p);
    return code == MPI_SUCCESS ? PENCILFFT_OK : pf_fail_mpi(code, "MPI_Win_allocate");
}

#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 5
/* Open MPI 4 (component osc/rdma) names a file in /dev/shm after the node and the communicator's number, which groups of
 * other ranks share: two groups on a node end the program (its issue 9492, mended in 5.0). Shared windows have other
 * names. */
static int allocate(const struct put *a, MPI_Aint bytes, void *block, MPI_Win *win)
{
    int here, most;
    MPI_Info apart;
    MPI_Comm node;
    PF_MPI(MPI_Comm_split_type(a->calls.group, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    PF_MPI(MPI_Comm_size(node, &here));
    PF_MPI(MPI_Comm_free(&node));
    PF_MPI(MPI_Allreduce(&here, &most, 1, MPI_INT, MPI_MAX, a->calls.group));
    if (most > 1 && most < a->calls.p)
        return pf_fail(
            PENCILFFT_NOT_POSSIBLE,
            "exchange put needs Open MPI 5 or MPICH if a group of %d ranks lies on several nodes with up to %d ranks "
            "each: Open MPI 4 mixes the windows of such groups up; use another exchange",
            a->calls.p, most);
    if (most == 1)
        return opened(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, a->calls.group, block, win), a);
    PF_MPI(MPI_Info_create(&apart));
    PF_MPI(MPI_Info_set(apart, "alloc_shared_noncontig", "true"));
    PF_MPI(MPI_Win_allocate_shared(bytes, 1, apart, a->calls.group, block, win));
    PF_MPI(MPI_Info_free(&apart));
    return PENCILFFT_OK;
}
#else
static int allocate(const struct put *a, MPI_Aint bytes, void *block, MPI_Win *win)
{
    return opened(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, a->calls.group, block, win), a);
}
#endif

static int open_window(const struct put *a, int64_t elements)
{
    struct window *w = a->window;
    int status = allocate(a, (MPI_Aint)elements * (MPI_Aint)a->calls.bytes + ALIGNMENT, &w->block, &w->win);
    pf_window_opened(w->planned);
    w->planned = 0;
    if (status)
        return status;
    PF_MPI(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    memset(w->block, 0, (size_t)elements * a->calls.bytes + ALIGNMENT); /* now, so that the next plan finds what is left */
    w->base = w->block + (ALIGNMENT - (uintptr_t)w->block % ALIGNMENT) % ALIGNMENT;
    return status;
}

/* Each member tells every other where in its window the other's message belongs. */
static int tell_places(struct put *a)
{
    MPI_Aint base = a->window->base - a->window->block, size = (MPI_Aint)a->calls.bytes;
    for (int i = 0; i < a->calls.p; i++)
        a->target[i] = base + (MPI_Aint)a->received->start[i] * size;
    PF_MPI(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_AINT, a->target, 1, MPI_AINT, a->calls.group));
    return PENCILFFT_OK;
}

static int connect(void *state, void *from, void *to)
{
    struct put *a = state;
    bool first = !a->window->base;
    (void)from, (void)to;
    if (a->calls.p == 1)
        return PENCILFFT_OK;
    lay_out(a, first);
    for (int i = 0; i < a->calls.p; i++)
        a->calls.sent.start[i] = a->sent->start[i];
    int status = first ? open_window(a, a->sent->total) : PENCILFFT_OK;
    return status ? status : tell_places(a);
}

static void *memory(const void *state)
{
    return ((const struct put *)state)->window->base;
}

/* ---- running ------------------------------------------------------------------------------------------------- */

static int put(const struct put *a, int target, const void *from)
{
    struct pf_amount amount = a->calls.sent.amount[target];
    if (amount.count)
        PF_MPI_LARGE(MPI_Put, pf_message_in(&a->calls, &a->calls.sent, target, from), amount.count, amount.type, target,
                     a->target[target], amount.count, amount.type, a->window->win);
    return PENCILFFT_OK;
}

/* To the nearest member above first, so that the ranks do not all write to the same member. */
static int start(void *state, void *from, void *to)
{
    const struct put *a = state;
    int p = a->calls.p, status = PENCILFFT_OK;
    (void)to;
    if (p == 1)
        return status;
    PF_MPI(MPI_Win_fence(MPI_MODE_NOPRECEDE, a->window->win));
    for (int s = 1; s < p && !status; s++)
        status = put(a, (a->calls.me + s) % p, from);
    PF_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, a->window->win));
    return status;
}

const struct pf_exchange pf_exchange_put = {
    .name = "put",
    .bytes = sizeof(struct put),
    .plan = plan,
    .start = start,
    .release = release,
    .connect = connect,
    .tied = true,
    .memory = memory,
};
