/* The library's calls of MPI and FFTW: started messages and collectives, new plans, transforms of lines. */
#pragma once

#include <stdio.h>

/* From now on print FFTW's plans, a line each, in the order of their creation. */
void recorded_calls_begin(FILE *out);
void recorded_calls_end(void);
/* A line: the calls started since the last such line, each with its bytes and its partner, in any order. */
void recorded_calls_tell(const char *what);
