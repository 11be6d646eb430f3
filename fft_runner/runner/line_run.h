/* fft_runner --decomposition line: a distributed line, planned, verified, timed and reported. */
#pragma once

#include "report.h"

/* Collective; fails on all or none. `record` is a file descriptor, -1 for none. */
int line_run(const struct options *options, const struct processes *processes, int argc, char **argv, int record);
