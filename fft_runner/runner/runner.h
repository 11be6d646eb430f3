/* What every file of the runner shares. */
#ifndef RUNNER_H
#define RUNNER_H

#include "common/failure.h"

#define RUNNER_NAME "fft_runner"

/* Status of the runner's own failures; beside those of pencilfft_status. */
enum { RUNNER_ERROR = 100 };

#endif
