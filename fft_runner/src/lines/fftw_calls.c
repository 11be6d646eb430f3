#include "lines/fftw_calls.h"

#define REAL double
#define FFTW(name) fftw_##name
#define OF(name) name##_double
#include "lines/fftw_calls_body.h"
#undef REAL
#undef FFTW
#undef OF

#define REAL float
#define FFTW(name) fftwf_##name
#define OF(name) name##_single
#include "lines/fftw_calls_body.h"
