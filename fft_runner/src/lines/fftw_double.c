#include "lines/fftw_calls.h"

#define PF_FFTW(name) fftw_##name
#define PF_REAL double
#define PF_TABLE_NAME pf_fftw_double
#include "lines/fftw_calls_body.h"
