/* A watcher beside each rank, with --time-limit: it says where a rank was that was killed or never ended, and ends it. */
#pragma once

/* Before MPI_Init: forks. A status. The others do nothing where it was not called. */
int watch_start(double limit_s);
/* What this rank does now; `number` follows where it is positive. The text must be a constant. */
void watch_mark(const char *phase, int number);
void watch_rank(int rank);
/* Nothing more is to be said of this rank: it has ended as it should, or has said why it does not. */
enum watch_end { WATCH_ON, WATCH_DONE, WATCH_SAID };
void watch_end(enum watch_end how);
