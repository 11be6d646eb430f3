/* pm_comm_reorder(): a seat for each process, one split, and an independent check.
 * Idea:  rank 0 decides (common/seating.c). After the split each process sends its real node to its neighbours along every
 *        dimension of the grid, and compares the received nodes with the places.
 * Cost:  a gather and a scatter of seats, 8 bytes a rank on every process, one MPI_Comm_split, a message a dimension. */
#include "pm_reorder.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/failure.h"
#include "common/seating.h"
#include "order.h"
#include "pencilfft.h"
#include "placing.h"

#define EXPORTED __attribute__((visibility("default")))

enum { CHECK_TAG = 7 };

/* For the Fortran module, which passes communicators as integers. */
int pm_comm_reorder_fortran(MPI_Fint comm, const char *machine, const char *grid, MPI_Fint *newcomm);

/* The message of a process to its neighbours. */
struct greeting {
    int64_t rank, place;
};

static int check_greeting(const struct greeting *heard, int from, const int64_t *place)
{
    if (heard->rank == from && heard->place == place[from])
        return 0;
    return pf_fail(PF_REFUSED, "self-check failed: rank %d should be at place %lld, and says it is rank %lld at place %lld",
                   from, (long long)place[from], (long long)heard->rank, (long long)heard->place);
}

static int greet(const struct greeting *me, int to, int from, const int64_t *place, MPI_Comm newcomm)
{
    int status = 0;
    struct greeting heard = {-1, -1};
    PF_MPI(MPI_Sendrecv(me, 2, MPI_INT64_T, to, CHECK_TAG, &heard, 2, MPI_INT64_T, from, CHECK_TAG, newcomm,
                        MPI_STATUS_IGNORE));
    status = pf_agree(check_greeting(&heard, from, place), newcomm);
    return status;
}

/* The next rank along a dimension of the grid, `step` further round. */
static int neighbour(const struct grid *grid, int dim, int rank, int step)
{
    int stride = 1;
    for (int i = 0; i < dim; i++)
        stride *= grid->extent[i];
    int extent = grid->extent[dim], at = rank / stride % extent;
    return rank + ((at + step + extent) % extent - at) * stride;
}

static int check_neighbours(const struct grid *grid, const struct seating *s)
{
    struct greeting me = {s->rank, s->mine.place};
    int status = 0;
    for (int dim = 0; dim < grid->dims && !status; dim++)
        status = greet(&me, neighbour(grid, dim, s->rank, 1), neighbour(grid, dim, s->rank, -1), s->places, s->comm);
    return status;
}

static int reorder(const struct pm_request *r, MPI_Comm comm, MPI_Comm *newcomm)
{
    const struct seating_request request = {r->seats, pm_place_ranks, r};
    struct seating s;
    int status = seating_make(&request, comm, &s);
    if (!status)
        status = check_neighbours(&r->grid, &s);
    if (!status) {
        *newcomm = s.comm;
        s.comm = MPI_COMM_NULL; /* the caller's now */
    }
    seating_release(&s);
    return status;
}

/* By the file of a placement on any network, in which process i of comm gets rank_of[i]. */
static int reorder_by_list(const struct pm_request *r, MPI_Comm comm, MPI_Comm *newcomm)
{
    int rank, ranks, placed;
    PF_MPI(MPI_Comm_rank(comm, &rank));
    PF_MPI(MPI_Comm_size(comm, &ranks));
    int *rank_of = seating_table(ranks, sizeof *rank_of);
    int status = pf_agree(rank_of ? 0 : PF_REFUSED, comm);
    if (!status)
        status = order_of_list(comm, r->list, ranks, rank_of);
    if (!status) {
        PF_MPI_OR_DONE(MPI_Comm_split(comm, 0, rank_of[rank], newcomm));
        PF_MPI_OR_DONE(MPI_Comm_rank(*newcomm, &placed));
        status = pf_agree(placed == rank_of[rank]
                              ? 0
                              : pf_fail(PF_REFUSED, "self-check failed: rank %d was asked for, rank %d came", rank_of[rank],
                                        placed),
                          comm);
    }
done:
    free(rank_of);
    return status;
}

static int read_request(MPI_Comm comm, const char *machine, const char *grid, const MPI_Comm *newcomm,
                        struct pm_request *request)
{
    int size;
    PF_MPI(MPI_Comm_size(comm, &size));
    if (!newcomm)
        return pf_fail(PF_REFUSED, "pm_comm_reorder: newcomm is NULL; give the address of the new communicator");
    return pm_request_parse(machine, grid, size, request);
}

static int same_everywhere(MPI_Comm comm, const char *machine, const char *grid)
{
    const struct pf_argument arguments[] = {PF_ARGUMENT_TEXT("machine", machine), PF_ARGUMENT_TEXT("grid", grid)};
    return pf_same_arguments("the arguments of pm_comm_reorder", 2, arguments, comm);
}

EXPORTED int pm_comm_reorder(MPI_Comm comm, const char *machine, const char *grid, MPI_Comm *newcomm)
{
    struct pm_request request = {0};
    if (newcomm)
        *newcomm = MPI_COMM_NULL;
    int status = pf_usable(comm, "pm_comm_reorder");
    if (!status)
        status = pf_agree(read_request(comm, machine, grid, newcomm, &request), comm);
    if (!status)
        status = same_everywhere(comm, machine, grid);
    if (!status)
        status = request.list ? reorder_by_list(&request, comm, newcomm) : reorder(&request, comm, newcomm);
    return !status ? PM_SUCCESS : status == PENCILFFT_MPI_ERROR ? PM_MPI_ERROR : PM_ERROR;
}

/* MPI would end the program at a look-up of a handle before MPI_Init or after MPI_Finalize. */
EXPORTED int pm_comm_reorder_fortran(MPI_Fint comm, const char *machine, const char *grid, MPI_Fint *newcomm)
{
    int started = 0, ended = 0;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    bool running = started && !ended;
    int status = pm_comm_reorder(running ? MPI_Comm_f2c(comm) : MPI_COMM_NULL, machine, grid, &made);
    if (running)
        *newcomm = MPI_Comm_c2f(made);
    return status;
}

EXPORTED const char *pm_reorder_message(void)
{
    return pf_message();
}
