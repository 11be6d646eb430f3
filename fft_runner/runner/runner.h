/* Shared by every file of the runner. */
#ifndef RUNNER_H
#define RUNNER_H

#include "common/failure.h"

#define RUNNER_NAME "fft_runner"

#endif
