/* Stands for the library's count_limit.c where it is linked: so few elements are too many for a count of MPI's that every
 * exchange does what it does beyond 2^31. */
#include "exchange/large_messages.h"

const int64_t pf_count_limit = 5;
const int64_t pf_fftw_count_limit = 6000;
