#include "processes.h"

#include <stdlib.h>
#include <string.h>

#include "runner.h"

static int gather_table(struct processes *p)
{
    const struct seating *s = &p->seating;
    struct process me;
    memset(&me, 0, sizeof me);
    me.seat = s->mine;
    topology_describe(&me.topology);
    int status = s->rank == 0 && !(p->table = seating_table(s->ranks, sizeof *p->table)) ? PF_REFUSED : 0;
    if ((status = pf_agree(status, s->comm)))
        return status;
    CHECK_MPI(MPI_Gather(&me, sizeof me, MPI_BYTE, p->table, sizeof me, MPI_BYTE, 0, s->comm));
    return status;
}

int processes_seat(const struct seats_request *seats, const char *mapfile, struct processes *p)
{
    const struct seating_request request = {*seats, mapfile ? mapfile_read : NULL, mapfile};
    int status = 0;
    if (mapfile && !seats->has_torus)
        status = pf_fail(PF_REFUSED, "--mapfile needs --machine-torus, to know what its coordinates mean");
    if (!status && !(status = seating_make(&request, MPI_COMM_WORLD, &p->seating))) {
        CHECK_MPI(MPI_Comm_set_errhandler(p->seating.comm, MPI_ERRORS_RETURN));
        status = gather_table(p);
    }
    return status;
}

void processes_release(struct processes *p)
{
    free(p->table);
    seating_release(&p->seating);
}
