/* A stand-in for P3DFFT 2: the calls of Fortran that its header declares. They are in p3dfft.c. */
#pragma once

#include <stdlib.h>

#ifndef GNU
#error "without GNU the header names routines as Intel's compiler does"
#endif
#define FORT_MOD_NAME(NAME) __p3dfft_MOD_##NAME

void FORT_MOD_NAME(p3dfft_setup)(int *dims, int *nx, int *ny, int *nz, int *comm, int *nxc, int *nyc, int *nzc, int *ow,
                                 int *memsize);
void FORT_MOD_NAME(p3dfft_get_dims)(int *start, int *end, int *size, int *conf);
void FORT_MOD_NAME(p3dfft_ftran_r2c)(double *A, double *B, unsigned char *op);
void FORT_MOD_NAME(p3dfft_btran_c2r)(double *A, double *B, unsigned char *op);
