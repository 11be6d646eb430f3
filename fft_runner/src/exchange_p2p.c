/* Transpose by scheduled pairs.
 * Idea:  in step s every rank talks to one other. When p is a power of two, ranks me and me xor s exchange with each
 *        other; else rank me sends to me + s and receives from me - s (mod p). No rank ever gets two messages at once.
 * Source: the two schedules of MPICH's pairwise all-to-all; the second is a ring shift.
 * Cost:  (p - 1) steps of one message each way; nothing is sent for a part that is empty.
 * Needs: counts and displacements that fit an MPI int; nothing of p or of the extents. */
#include <stdbool.h>
#include <stdlib.h>

#include "exchanges.h"
#include "failure.h"
#include "message_counts.h"

enum { TAG = 1 };

struct p2p {
    MPI_Comm group;
    MPI_Datatype element;
    size_t bytes;
    int p, me;
    struct pf_counts sent, received;
};

int pf_p2p_plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void **state)
{
    struct p2p *a = calloc(1, sizeof *a);
    int status;
    *state = NULL;
    if (!a)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for an exchange");
    a->group = t->group;
    a->element = pf_element_type(t->element_bytes);
    a->bytes = t->element_bytes;
    a->p = t->p;
    a->me = t->me;
    if (!(status = pf_counts_make(sent, t->me, &a->sent)))
        status = pf_counts_make(received, t->me, &a->received);
    if (status)
        pf_p2p_destroy(a);
    else
        *state = a;
    return status;
}

static bool power_of_two(int p)
{
    return (p & (p - 1)) == 0;
}

static int step(const struct p2p *a, int s, const char *from, char *to)
{
    int status = PENCILFFT_OK;
    int target = power_of_two(a->p) ? a->me ^ s : (a->me + s) % a->p;
    int source = power_of_two(a->p) ? a->me ^ s : (a->me - s + a->p) % a->p;
    PF_MPI(MPI_Sendrecv(from + (size_t)a->sent.displacement[target] * a->bytes, a->sent.count[target], a->element,
                        a->sent.count[target] ? target : MPI_PROC_NULL, TAG,
                        to + (size_t)a->received.displacement[source] * a->bytes, a->received.count[source], a->element,
                        a->received.count[source] ? source : MPI_PROC_NULL, TAG, a->group, MPI_STATUS_IGNORE));
done:
    return status;
}

int pf_p2p_run(void *state, const struct pf_run *run, void *from, void *to)
{
    const struct p2p *a = state;
    int status = PENCILFFT_OK;
    (void)run;
    for (int s = 1; s < a->p && !status; s++)
        status = step(a, s, from, to);
    return status;
}

void pf_p2p_destroy(void *state)
{
    struct p2p *a = state;
    pf_counts_release(&a->sent);
    pf_counts_release(&a->received);
    free(a);
}
