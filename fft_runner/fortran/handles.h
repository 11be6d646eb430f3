/* Functions for the modules pencilfft of Fortran and Python, and for nothing else: handles.c. */
#ifndef PENCILFFT_HANDLES_H
#define PENCILFFT_HANDLES_H

#include "pencilfft_line.h"

struct pf_handle;

int pencilfft_plan_create_fortran(const pencilfft_desc *desc, MPI_Fint comm, pencilfft_plan *plan);
int pencilfft_line_create_fortran(int64_t n, int64_t lines, const char *algorithm, const char *order, const char *precision,
                                  const char *rigor, const char *sync, MPI_Fint comm, pencilfft_line_plan *plan);
int pencilfft_brick_lines_create_fortran(const int64_t size[3], const int bricks[3], int fields, const char *algorithm,
                                         const char *order, const char *precision, const char *rigor, const char *sync,
                                         MPI_Fint comm, pencilfft_brick_lines *plan);
int pencilfft_array_fortran(pencilfft_plan plan, int array, int element_bytes, int is_complex, int fields, void **buffer);
int pencilfft_wisdom_load_fortran(const char *path, MPI_Fint comm, int *found);
int pencilfft_wisdom_save_fortran(const char *path, MPI_Fint comm);
int pencilfft_length_fortran(const char *array, int64_t length, int64_t least, int64_t most);
int pencilfft_agree_fortran(int status, MPI_Fint comm);
int pencilfft_ranks_fortran(const struct pf_handle *plan);
int pencilfft_halo_ranks_fortran(pencilfft_halo halo);
int pencilfft_halo_create_fortran(pencilfft_plan plan, int given, int array, const int64_t low[3], const int64_t high[3],
                                  pencilfft_halo *halo);
int pencilfft_transform_fortran(pencilfft_plan plan, int direction, const void *from, int64_t from_bytes, void *to,
                                int64_t to_bytes);

#endif
