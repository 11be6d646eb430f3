#include "lines/complex_calls.h"

#define PF_REAL float
#define PF_CMPLX(x, y) CMPLXF(x, y)
#define PF_TABLE_NAME pf_complex_single
#include "lines/complex_calls_body.h"
