/* What the library asks of MPI and FFTW: messages and collectives that it starts, plans that it has made, transforms of lines
 * that it runs. */
#pragma once

#include <stdio.h>

/* Plans of FFTW are told from now on, one a line, in the order in which they are made. */
void recorded_calls_begin(FILE *out);
void recorded_calls_end(void);
/* A line: how much was started since the last such line, each with its bytes and its partner, whatever their order. */
void recorded_calls_tell(const char *what);
