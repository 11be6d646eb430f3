#include "lines/complex_calls.h"

#define PF_REAL double
#define PF_CMPLX(x, y) CMPLX(x, y)
#define PF_TABLE_NAME pf_complex_double
#include "lines/complex_calls_body.h"
