/* C11's CMPLX and CMPLXF. glibc before 2.37 defines neither for Clang, which has the same builtin as GCC. */
#pragma once

#include <complex.h>

#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif
#ifndef CMPLXF
#define CMPLXF(re, im) __builtin_complex((float)(re), (float)(im))
#endif
