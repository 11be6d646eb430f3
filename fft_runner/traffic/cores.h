#pragma once

/* Collective over MPI_COMM_WORLD: the most ranks for each logical processor that they may use on a host; 0 if it is not
 * known. */
double cores_shared_by(int rank, int ranks);
