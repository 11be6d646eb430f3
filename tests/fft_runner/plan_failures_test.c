/* Plans that cannot be made: ranks that ask for different things, and no room for shared memory. All ranks must get the same
 * status and message, no plan, and must not wait for each other.
 * Run under mpirun with the grid: plan_failures_test R C. Linked so that the library's calls of statvfs come here. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "agreement.h"
#include "check.h"
#include "start_on_grid.h"

int __real_statvfs(const char *path, struct statvfs *room);
int __wrap_statvfs(const char *path, struct statvfs *room);

static int R, C, rank, ranks;
static int no_room; /* left for shared memory */

int __wrap_statvfs(const char *path, struct statvfs *room)
{
    int status = __real_statvfs(path, room);
    if (no_room)
        room->f_bavail = 0;
    return status;
}

static pencilfft_desc description(const char *exchange)
{
    pencilfft_desc desc;
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = 12;
    desc.R = R;
    desc.C = C;
    desc.exchange = exchange;
    desc.rigor = "estimate";
    desc.auto_budget_s = 0;
    return desc;
}

static void expect_mismatch(const char *member, const pencilfft_desc *desc)
{
    pencilfft_plan plan = NULL;
    char words[64];
    snprintf(words, sizeof words, "the descriptors differ between ranks: %s is ", member);
    CHECK_INT(pencilfft_plan_create(desc, MPI_COMM_WORLD, &plan), PENCILFFT_MISMATCH);
    CHECK(plan == NULL);
    CHECK_CONTAINS(pencilfft_error_message(), words);
    CHECK(same_message_on_all());
}

/* Another value of one member, on the last rank alone. */
#define DIFFERENT(member, value)                        \
    do {                                                \
        pencilfft_desc desc = description("alltoallv"); \
        if (rank == ranks - 1)                          \
            desc.member = value;                        \
        expect_mismatch(#member, &desc);                \
    } while (0)

static void ranks_that_differ_get_no_plan(void)
{
    DIFFERENT(nx, 13);
    DIFFERENT(ny, 13);
    DIFFERENT(nz, INT64_MIN);
    DIFFERENT(R, R + 1);
    DIFFERENT(C, C + 1);
    DIFFERENT(directions, PENCILFFT_FORWARD);
    DIFFERENT(type, "r2c");
    DIFFERENT(kinds, "1,1,1");
    DIFFERENT(skip, "x");
    DIFFERENT(precision, "single");
    DIFFERENT(layout, "stride1");
    DIFFERENT(exchange, "p2p");
    DIFFERENT(rigor, "measure");
    DIFFERENT(sync, "barrier");
    DIFFERENT(auto_budget_s, 2);
    DIFFERENT(fields, 2);
}

/* A grid the other way round has as many ranks; a null descriptor is nobody's. */
static void grids_that_differ_and_null_descriptors_get_no_plan(void)
{
    pencilfft_desc desc = description("alltoallv");
    pencilfft_plan plan = NULL;
    if (rank == ranks - 1 && R != C) {
        desc.R = C;
        desc.C = R;
    }
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), R != C ? PENCILFFT_MISMATCH : PENCILFFT_OK);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
    CHECK_INT(pencilfft_plan_create(rank == ranks - 1 ? NULL : &desc, MPI_COMM_WORLD, &plan), PENCILFFT_BAD_CALL);
    CHECK_CONTAINS(pencilfft_error_message(), "null descriptor");
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, rank == ranks - 1 ? NULL : &plan), PENCILFFT_BAD_CALL);
}

static void no_room_for_shared_memory_is_told(void)
{
    pencilfft_desc desc = description("node");
    pencilfft_plan plan = NULL;
    no_room = rank == 0; /* of the node's ranks it has the memory made */
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), PENCILFFT_NOT_POSSIBLE);
    CHECK(plan == NULL);
    CHECK_CONTAINS(pencilfft_error_message(), "shared memory on a node and /dev/shm has 0 left");
    desc.exchange = "auto";
    desc.auto_budget_s = 5;
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), PENCILFFT_OK);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
    no_room = 0;
}

int main(int argc, char **argv)
{
    start_on_grid(argc, argv, &rank, &ranks, &R, &C);
    if (ranks > 1) {
        ranks_that_differ_get_no_plan();
        no_room_for_shared_memory_is_told();
        grids_that_differ_and_null_descriptors_get_no_plan();
    }
    MPI_Finalize();
    return check_result();
}
