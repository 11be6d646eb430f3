/* Communicators that plans share, because an MPI has few: MPICH 2048, and a plan of its own would take three.
 * Idea:  a duplicate of the caller's communicator is an attribute of that communicator. Plans, and halos, count as its
 *        users. So does the attribute until the caller frees its communicator. Groups of ranks belong to the duplicate.
 *        Plans may share communicators because each call of a plan completes its messages before the next: MPI keeps
 *        messages between two ranks in order, and collectives in the order of the calls, as in two runs of the same plan.
 *        Threads that call MPI at once have no such order, so with MPI_THREAD_MULTIPLE nothing is shared; nor do plans in
 *        flight, which start an exchange when the last one is complete, so they have communicators of their own.
 * Source: MPI 4.0, sections 3.5 (order of messages) and 7.7 (attributes, meant for this purpose).
 * Cost:  a duplicate for the first plan; a split for each group that no other plan uses. */
#include "exchange/communicators.h"

#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "pencilfft.h"

struct pf_group {
    MPI_Comm comm;
    int users, size, step;
    struct pf_group *next;
    int labels; /* 0, or the number of ranks */
    int label[];
};

/* ---- those of one communicator of the caller -------------------------------------------------------------------------- */

static int keyval = MPI_KEYVAL_INVALID;

/* MPI frees the caller's communicator. MPI_Finalize has already freed the library's communicators. */
static int attribute_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    struct pf_communicators *c = value;
    int ended = 0;
    (void)comm, (void)key, (void)extra;
    MPI_Finalized(&ended);
    if (ended && c->users == 1)
        c->all = MPI_COMM_NULL;
    return pf_communicators_leave(c) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int find(MPI_Comm comm, struct pf_communicators **found)
{
    void *value = NULL;
    int there = 0;
    *found = NULL;
    if (keyval == MPI_KEYVAL_INVALID)
        PF_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, attribute_deleted, &keyval, NULL));
    PF_MPI(MPI_Comm_get_attr(comm, keyval, &value, &there));
    if (there)
        *found = value;
    return PENCILFFT_OK;
}

static int make(MPI_Comm comm, bool shared, struct pf_communicators **made)
{
    struct pf_communicators new = {.all = MPI_COMM_NULL, .users = 1, .shared = shared};
    int status = PENCILFFT_OK;
    PF_MPI(MPI_Comm_dup(comm, &new.all));
    PF_MPI(MPI_Comm_set_errhandler(new.all, MPI_ERRORS_RETURN));
    if (!(*made = malloc(sizeof **made)))
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for a communicator");
    else
        **made = new;
    if ((status = pf_agree(status, new.all))) {
        free(*made);
        *made = NULL;
        if (status != PENCILFFT_MPI_ERROR)
            PF_MPI(MPI_Comm_free(&new.all));
    }
    return status;
}

int pf_communicators_join(MPI_Comm comm, struct pf_communicators **made)
{
    int level, status = PENCILFFT_OK;
    *made = NULL;
    PF_MPI(MPI_Query_thread(&level));
    bool shared = level < MPI_THREAD_MULTIPLE;
    if (shared && (status = find(comm, made)))
        return status;
    if (*made)
        (*made)->users++;
    else if (!(status = make(comm, shared, made)) && shared) {
        PF_MPI(MPI_Comm_set_attr(comm, keyval, *made));
        (*made)->users++;
    }
    return status;
}

int pf_communicators_share(struct pf_communicators *of, struct pf_communicators **made)
{
    if (!of->shared)
        return make(of->all, false, made);
    of->users++;
    *made = of;
    return PENCILFFT_OK;
}

int pf_communicators_own(const struct pf_communicators *of, struct pf_communicators **made)
{
    return make(of->all, false, made);
}

int pf_communicators_leave(struct pf_communicators *c)
{
    int status = PENCILFFT_OK;
    if (!c || --c->users > 0)
        return status;
    if (c->all != MPI_COMM_NULL)
        PF_MPI_OR_DONE(MPI_Comm_free(&c->all));
done:
    free(c);
    return status;
}

/* ---- groups ----------------------------------------------------------------------------------------------------------- */

static struct pf_group *find_group(const struct pf_communicators *c, const struct pf_group_key *key, size_t labels)
{
    struct pf_group *g = c->groups;
    while (g && (g->size != key->size || g->step != key->step || g->labels != (int)labels ||
                 (labels && memcmp(g->label, key->label, labels * sizeof *key->label) != 0)))
        g = g->next;
    return g;
}

static int make_group(struct pf_communicators *c, const struct pf_group_key *key, int ranks, struct pf_group **made)
{
    size_t labels = key->label ? (size_t)ranks : 0;
    int rank, status = PENCILFFT_OK;
    struct pf_group *g = calloc(1, sizeof *g + labels * sizeof *g->label);
    *made = NULL;
    if (!g)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for a group of ranks");
    if ((status = pf_agree(status, c->all)))
        goto done;
    PF_MPI_OR_DONE(MPI_Comm_rank(c->all, &rank));
    int colour = key->label ? key->label[rank] : rank - rank / key->step % key->size * key->step;
    PF_MPI_OR_DONE(MPI_Comm_split(c->all, colour, rank, &g->comm));
    PF_MPI_OR_DONE(MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_RETURN));
    g->size = key->size, g->step = key->step, g->labels = (int)labels;
    if (labels)
        memcpy(g->label, key->label, labels * sizeof *g->label);
    g->next = c->groups;
    c->groups = *made = g;
done:
    if (status)
        free(g);
    return status;
}

int pf_group_join(struct pf_communicators *c, const struct pf_group_key *key, MPI_Comm *group)
{
    int ranks, status = PENCILFFT_OK;
    PF_MPI(MPI_Comm_size(c->all, &ranks));
    struct pf_group *g = find_group(c, key, key->label ? (size_t)ranks : 0);
    if (!g)
        status = make_group(c, key, ranks, &g);
    if (!status) {
        g->users++;
        *group = g->comm;
    }
    return status;
}

int pf_group_leave(struct pf_communicators *c, MPI_Comm *group)
{
    int status = PENCILFFT_OK;
    struct pf_group **at = &c->groups;
    if (*group == MPI_COMM_NULL)
        return status;
    while (*at && (*at)->comm != *group)
        at = &(*at)->next;
    *group = MPI_COMM_NULL;
    struct pf_group *g = *at;
    if (!g || --g->users > 0)
        return status;
    *at = g->next;
    PF_MPI_OR_DONE(MPI_Comm_free(&g->comm));
done:
    free(g);
    return status;
}
