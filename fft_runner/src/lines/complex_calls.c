#include "lines/complex_calls.h"

#define REAL double
#define NUMBER(x, y) CMPLX(x, y)
#define OF(name) name##_double
#include "lines/complex_calls_body.h"
#undef REAL
#undef NUMBER
#undef OF

#define REAL float
#define NUMBER(x, y) CMPLXF(x, y)
#define OF(name) name##_single
#include "lines/complex_calls_body.h"
