/* Replaces the library's count_limit.c: a few elements exceed a count of MPI's, so that every exchange uses its code for
 * more than 2^31. */
#include "exchange/message_counts.h"

const int64_t pf_count_limit = 5;
const int64_t pf_fftw_count_limit = 6000;
