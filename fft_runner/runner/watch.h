/* With --time-limit, a watcher beside each rank: reports the last work of a rank that was killed or never ended, and ends
 * that rank. */
#pragma once

/* Before MPI_Init: forks. A status. The other functions do nothing without this call. */
int watch_start(double limit_s);
/* The current work of this rank; `number` follows if positive. The text must be a constant. */
void watch_mark(const char *phase, int number);
void watch_rank(int rank);
/* No more reports on this rank: the rank has ended normally, or has given the reason. */
enum watch_end { WATCH_ON, WATCH_DONE, WATCH_SAID };
void watch_end(enum watch_end how);
