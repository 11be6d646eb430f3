/* libpencilmap_reorder: a communicator whose ranks sit where a placement puts them, for codes whose launcher reads no file.
 *
 *     MPI_Comm placed;
 *     if (pm_comm_reorder(MPI_COMM_WORLD, "8x8x8 placement=digits:x=r2c4,y=r2c4,z=r2c4", "8x64", &placed)) {
 *         if (rank == 0) fprintf(stderr, "%s\n", pm_reorder_message());
 *         MPI_Abort(MPI_COMM_WORLD, 1);
 *     }
 *     plan = fftw_mpi_plan_dft_3d(..., placed, ...);          no other change
 *
 * Rank q*R + p of the new communicator is grid rank q*R + p. One MPI_Comm_split(comm, 0, rank) makes the communicator, so
 * nothing depends on the MPI library's handling of reorder=1. */
#ifndef PM_REORDER_H
#define PM_REORDER_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Status of pm_comm_reorder(): PM_ERROR for a request that cannot be met, PM_MPI_ERROR if MPI failed. */
enum pm_reorder_status { PM_SUCCESS = 0, PM_ERROR = 1, PM_MPI_ERROR = 2 };

/* Collective over comm: succeeds on all ranks or fails on all, with the same message; then *newcomm is MPI_COMM_NULL.
 *
 * machine: the torus, then words KEY=VALUE separated by blanks (values hold no blanks):
 *   8x8x8 | 8x8x8:mesh | 8wx8x4w      shape as everywhere in pencilmap; wrapped dimensions play no role here.
 *                                     4x6x16x2x3x2:axes=xyzabc for axes with other letters than xyz (a to h above three)
 *   tasks=T                           tasks per node [as few as hold all]
 *   placement=default[:ORDER]         ranks along the axes, fastest first, t the slot: xyzt; tn and nt take the nodes in
 *                                     the order of their numbers, with the slots first or last [default:tn]
 *   placement=digits:x=r2c4,..,t=r2   digit patterns, as `pencilmap predict` prints them: r rows, c columns (s for slabs),
 *                                     i idle; axes not named are columns
 *   placement=ring:x=0.1/3.2,..       ring maps: the positions of the members of each row, or digit patterns
 *   placement=lattice:c=..,tile=..    lattice tilings, as `pencilmap check` prints them
 *   placement=file:PATH               mapfile: line i holds "x y z t" of rank i; read by rank 0 of comm
 *   where=auto | environment | blue-gene | hostname | table:PATH | assumed[:ORDER]
 *                                     source of each process's node [auto: the first of environment, blue-gene and hostname
 *                                     that all processes understand]; environment: PENCILMAP_HOST holds a name; the last
 *                                     numbers of a name are the coordinates; table: lines "NAME x y z", read by rank 0;
 *                                     assumed: the launcher filled the machine in that order [tn: a node after the
 *                                     other]
 *   hosts:PATH                        in place of the torus and all words, on any network: a file with the host of each
 *                                     rank, one a line (`pencilmap map --format hostfile`), or the rank of each process;
 *                                     read by rank 0. Processes are told apart by PENCILMAP_HOST or their host's name
 * grid:  RxC: R tasks in a row, C in a column; R*C is the size of comm. P alone for slabs, PxQxS for bricks.
 *
 * Checks: every rank of newcomm has its number and runs at its place, and in an exchange with its neighbours along each
 * dimension of the grid every message comes from the place that the placement names. */
int pm_comm_reorder(MPI_Comm comm, const char *machine, const char *grid, MPI_Comm *newcomm);

/* The message of the last failure on this process. */
const char *pm_reorder_message(void);

#ifdef __cplusplus
}
#endif

#endif
