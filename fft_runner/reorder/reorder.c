/* pm_comm_reorder(): place table, seat of this process, one split, and a check that is not taken on trust.
 * Idea:  the place of every grid rank is a table on every process; the new rank is where one's own seat stands in it.
 *        After the split each process tells its neighbours in row and column where it really is, and compares what it hears
 *        with the table.
 * Cost:  8 bytes a rank on every process, an all-gather of seats, one MPI_Comm_split, two messages. */
#include "pm_reorder.h"

#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "pencilfft.h"
#include "placing.h"
#include "request.h"
#include "where.h"

#define EXPORTED __attribute__((visibility("default")))

enum { CHECK_TAG = 7 };

/* Placements may read files, so rank 0 makes the table. */
static int share_places(const struct pm_request *r, MPI_Comm comm, int64_t **place)
{
    int rank, status = 0;
    PF_MPI(MPI_Comm_rank(comm, &rank));
    *place = calloc((size_t)r->ranks, sizeof **place);
    if (!*place)
        status = pf_fail(PM_ERROR, "no memory for the places of %d ranks", r->ranks);
    if (!status && rank == 0)
        status = pm_place_ranks(r, *place);
    if ((status = pf_agree(status, comm)))
        goto done;
    PF_MPI(MPI_Bcast(*place, r->ranks, MPI_INT64_T, 0, comm));
done:
    return status;
}

static int rank_at(const int64_t *place, int ranks, int64_t mine)
{
    for (int rank = 0; rank < ranks; rank++)
        if (place[rank] == mine)
            return rank;
    return -1;
}

static int refuse_seat(const struct pm_request *r, const struct pm_seat *seat)
{
    char where[COORDINATE_TEXT];
    struct coordinate node = torus_coordinate(&r->torus, seat->node);
    coordinate_text(&node, where);
    return pf_fail(PM_ERROR,
                   "a process runs at node %s slot %lld, where placement=%.100s puts no rank; start the processes "
                   "where it does, or place the nodes of this job",
                   where, (long long)seat->slot, r->placement);
}

static int split(const struct pm_request *r, MPI_Comm comm, int wanted, MPI_Comm *newcomm)
{
    int rank = -1, status = 0;
    PF_MPI(MPI_Comm_split(comm, 0, wanted, newcomm));
    PF_MPI(MPI_Comm_rank(*newcomm, &rank));
    if (rank != wanted)
        status = pf_fail(PM_ERROR,
                         "self-check failed: rank %d of %d was asked for, rank %d was got; two processes have one "
                         "place",
                         wanted, r->ranks, rank);
    status = pf_agree(status, comm);
done:
    return status;
}

/* What a process tells its neighbour about itself. */
struct greeting {
    int64_t rank, place;
};

static int check_greeting(const struct greeting *heard, int from, const int64_t *place)
{
    if (heard->rank == from && heard->place == place[from])
        return 0;
    return pf_fail(PM_ERROR, "self-check failed: rank %d should be at place %lld, and says it is rank %lld at place %lld",
                   from, (long long)place[from], (long long)heard->rank, (long long)heard->place);
}

static int greet(const struct greeting *me, int to, int from, const int64_t *place, MPI_Comm newcomm)
{
    int status = 0;
    struct greeting heard = {-1, -1};
    PF_MPI(MPI_Sendrecv(me, 2, MPI_INT64_T, to, CHECK_TAG, &heard, 2, MPI_INT64_T, from, CHECK_TAG, newcomm,
                        MPI_STATUS_IGNORE));
    status = pf_agree(check_greeting(&heard, from, place), newcomm);
done:
    return status;
}

static int check_neighbours(const struct pm_request *r, const struct pm_seat *seat, int rank, const int64_t *place,
                            MPI_Comm newcomm)
{
    int p = rank % r->row, q = rank / r->row, status;
    struct greeting me = {rank, seat->node * r->tasks + seat->slot};
    status = greet(&me, q * r->row + (p + 1) % r->row, q * r->row + (p + r->row - 1) % r->row, place, newcomm);
    if (!status)
        status = greet(&me, (q + 1) % r->column * r->row + p, (q + r->column - 1) % r->column * r->row + p, place, newcomm);
    return status;
}

static int reorder(const struct pm_request *r, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct pm_seat seat;
    int64_t *place = NULL;
    int status = share_places(r, comm, &place);
    if (!status)
        status = pm_find_seat(r, comm, &seat);
    if (status)
        goto done;
    int rank = rank_at(place, r->ranks, seat.node * r->tasks + seat.slot);
    if (!(status = pf_agree(rank < 0 ? refuse_seat(r, &seat) : 0, comm)))
        status = split(r, comm, rank, newcomm);
    if (!status)
        status = check_neighbours(r, &seat, rank, place, *newcomm);
done:
    free(place);
    return status;
}

EXPORTED int pm_comm_reorder(MPI_Comm comm, const char *machine, const char *grid, MPI_Comm *newcomm)
{
    struct pm_request request;
    int size, status = 0;
    *newcomm = MPI_COMM_NULL;
    PF_MPI(MPI_Comm_size(comm, &size));
    if (!(status = pf_agree(pm_request_parse(machine, grid, size, &request), comm)))
        status = reorder(&request, comm, newcomm);
    if (status && *newcomm != MPI_COMM_NULL)
        MPI_Comm_free(newcomm);
done:
    return !status ? PM_SUCCESS : status == PENCILFFT_MPI_ERROR ? PM_MPI_ERROR : PM_ERROR;
}

EXPORTED const char *pm_reorder_message(void)
{
    return pf_message();
}
