#include "lines/fftw_calls.h"

#define PF_FFTW(name) fftwf_##name
#define PF_REAL float
#define PF_TABLE_NAME pf_fftw_single
#include "lines/fftw_calls_body.h"
