/* The file of a trace. */
#pragma once

/* Collective over MPI_COMM_WORLD: rank 0 writes the traffic of all ranks to the file that PENCILMAP_TRAFFIC names, whole or
 * not at all. A failure is said on standard error, and the program goes on. */
void traffic_write(void);

/* The name of that file. */
const char *traffic_file(void);
