/* The largest counts that MPI and FFTW take. */
#include <limits.h>

#include "exchange/message_counts.h"

const int64_t pf_count_limit = sizeof(pf_count) > sizeof(int) ? INT64_MAX : INT_MAX;
const int64_t pf_fftw_count_limit = INT_MAX;
