/* Shared by every file of the runner. */
#pragma once

#include "common/failure.h"

#define RUNNER_NAME "fft_runner"
