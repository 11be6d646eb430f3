/* What every file of the runner shares. */
#ifndef RUNNER_H
#define RUNNER_H

#include "common/failure.h"

#define RUNNER_NAME "fft_runner"

#endif
