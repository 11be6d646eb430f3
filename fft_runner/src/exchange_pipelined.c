/* Transpose in slices that travel while the next ones are computed.
 * Idea:  all receives are posted at once; slice k is transformed and packed, its messages start, and slice k + 1 is
 *        worked on meanwhile. Then slice after slice is waited for, unpacked and transformed, while later ones arrive.
 *        Between slices MPI is asked how far it is, so that it moves on where nothing else does that for it.
 * Source: C. E. Cramer and J. A. Board, The development and integration of a distributed 3D FFT for a cluster of
 *         workstations, Atlanta Linux Showcase 2000: sends started as soon as a part of the lines is done.
 * Cost:  slices * (p - 1) messages a rank; at best their time is hidden behind the FFTs on both sides.
 * Needs: counts and displacements that fit an MPI int; one extent of at least 2 for anything to overlap. */
#include <stdlib.h>

#include "exchanges.h"
#include "failure.h"
#include "message_counts.h"

struct pipelined {
    MPI_Comm group;
    MPI_Datatype element;
    size_t bytes;
    int p, me, slices;
    struct pf_counts sent, received;
    MPI_Request *receiving, *sending; /* slice k with member j: number k * p + j */
    MPI_Status *statuses;             /* not read; MPICH's MPI_STATUSES_IGNORE makes gcc warn */
};

static int allocate_requests(struct pipelined *a)
{
    size_t n = (size_t)a->p * (size_t)a->slices;
    a->receiving = malloc(n * sizeof *a->receiving);
    a->sending = malloc(n * sizeof *a->sending);
    a->statuses = malloc(n * sizeof *a->statuses);
    if (!a->receiving || !a->sending || !a->statuses)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for %zu requests", 2 * n);
    for (size_t i = 0; i < n; i++)
        a->receiving[i] = a->sending[i] = MPI_REQUEST_NULL;
    return PENCILFFT_OK;
}

int pf_pipelined_plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received,
                      void **state)
{
    struct pipelined *a = calloc(1, sizeof *a);
    int status;
    *state = NULL;
    if (!a)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    a->group = t->group;
    a->element = pf_element_type(t->element_bytes);
    a->bytes = t->element_bytes;
    a->p = t->p;
    a->me = t->me;
    a->slices = sent->slices;
    if (!(status = pf_counts_make(sent, t->me, &a->sent)) &&
        !(status = pf_counts_make(received, t->me, &a->received)))
        status = allocate_requests(a);
    if (status)
        pf_pipelined_destroy(a);
    else
        *state = a;
    return status;
}

static int post_receives(struct pipelined *a, int slice, char *to)
{
    int status = PENCILFFT_OK;
    for (int s = 1; s < a->p; s++) {
        int source = (a->me - s + a->p) % a->p, i = slice * a->p + source;
        if (a->received.count[i])
            PF_MPI(MPI_Irecv(to + (size_t)a->received.displacement[i] * a->bytes, a->received.count[i], a->element,
                             source, slice, a->group, &a->receiving[i]));
    }
done:
    return status;
}

static int start_sends(struct pipelined *a, int slice, const char *from)
{
    int status = PENCILFFT_OK;
    for (int s = 1; s < a->p; s++) {
        int target = (a->me + s) % a->p, i = slice * a->p + target;
        if (a->sent.count[i])
            PF_MPI(MPI_Isend(from + (size_t)a->sent.displacement[i] * a->bytes, a->sent.count[i], a->element, target,
                             slice, a->group, &a->sending[i]));
    }
done:
    return status;
}

/* MPI libraries without a thread of their own move data only when they are called. */
static int nudge(struct pipelined *a)
{
    int status = PENCILFFT_OK, all_there;
    PF_MPI(MPI_Testall(a->p * a->slices, a->receiving, &all_there, a->statuses));
    PF_MPI(MPI_Testall(a->p * a->slices, a->sending, &all_there, a->statuses));
done:
    return status;
}

static int send_all(struct pipelined *a, const struct pf_run *run, const char *from)
{
    int status = PENCILFFT_OK;
    for (int slice = 0; slice < a->slices && !status; slice++) {
        pf_produce(run, slice);
        if (!(status = start_sends(a, slice, from)))
            status = nudge(a);
    }
    return status;
}

static int receive_all(struct pipelined *a, const struct pf_run *run)
{
    int status = PENCILFFT_OK;
    for (int slice = 0; slice < a->slices; slice++) {
        PF_MPI(MPI_Waitall(a->p, a->receiving + slice * a->p, a->statuses));
        pf_consume(run, slice);
    }
    PF_MPI(MPI_Waitall(a->p * a->slices, a->sending, a->statuses));
done:
    return status;
}

int pf_pipelined_run(void *state, const struct pf_run *run, void *from, void *to)
{
    struct pipelined *a = state;
    int status = PENCILFFT_OK;
    for (int slice = 0; slice < a->slices && !status; slice++)
        status = post_receives(a, slice, to);
    if (!status)
        status = send_all(a, run, from);
    return status ? status : receive_all(a, run);
}

void pf_pipelined_destroy(void *state)
{
    struct pipelined *a = state;
    pf_counts_release(&a->sent);
    pf_counts_release(&a->received);
    free(a->receiving);
    free(a->sending);
    free(a->statuses);
    free(a);
}
