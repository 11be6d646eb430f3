/* The layout in C of the structures that C shares with Fortran and Python: a line for each, size and offsets in bytes. And
 * the values of the shared names. */
#include <stdio.h>

#include "pencilfft.h"

#define AT(structure, member) offsetof(structure, member)

int main(void)
{
    printf("pencilfft_box %zu %zu %zu %zu\n", sizeof(pencilfft_box), AT(pencilfft_box, offset), AT(pencilfft_box, extent),
           AT(pencilfft_box, stride));
    printf("pencilfft_grid_trial %zu %zu %zu %zu %zu %zu %zu\n", sizeof(pencilfft_grid_trial), AT(pencilfft_grid_trial, R),
           AT(pencilfft_grid_trial, C), AT(pencilfft_grid_trial, runs), AT(pencilfft_grid_trial, least),
           AT(pencilfft_grid_trial, median), AT(pencilfft_grid_trial, spread));
    printf("pencilfft_part %zu %zu %zu %zu %zu %zu\n", sizeof(pencilfft_part), AT(pencilfft_part, box),
           AT(pencilfft_part, start), AT(pencilfft_part, first_field), AT(pencilfft_part, fields),
           AT(pencilfft_part, field_stride));
    printf("pencilfft_format %zu %zu %zu %zu %zu %zu %zu\n", sizeof(pencilfft_format), AT(pencilfft_format, element_bytes),
           AT(pencilfft_format, real_bytes), AT(pencilfft_format, is_complex), AT(pencilfft_format, fields),
           AT(pencilfft_format, field_stride), AT(pencilfft_format, n));
    printf("pencilfft_line %zu %zu %zu %zu %zu\n", sizeof(pencilfft_line), AT(pencilfft_line, kind),
           AT(pencilfft_line, number), AT(pencilfft_line, n), AT(pencilfft_line, points));
    printf("pencilfft_walk %zu %zu %zu %zu %zu\n", sizeof(pencilfft_walk), AT(pencilfft_walk, at), AT(pencilfft_walk, index),
           AT(pencilfft_walk, waves), AT(pencilfft_walk, field));
    printf("kind %d %d %d %d %d %d %d\n", PENCILFFT_FFT, PENCILFFT_PACK, PENCILFFT_EXCHANGE, PENCILFFT_UNPACK,
           PENCILFFT_TOTAL, PENCILFFT_WAIT, PENCILFFT_HIDDEN);
    printf("line_kind %d %d %d %d %d\n", PENCILFFT_LINE_NONE, PENCILFFT_LINE_DFT, PENCILFFT_LINE_R2C, PENCILFFT_LINE_COSINE,
           PENCILFFT_LINE_SINE);
    printf("status %d %d %d %d %d %d %d %d %d %d %d\n", PENCILFFT_OK, PENCILFFT_BAD_CALL, PENCILFFT_BAD_SIZE,
           PENCILFFT_BAD_GRID, PENCILFFT_UNKNOWN_NAME, PENCILFFT_MISMATCH, PENCILFFT_TOO_LARGE, PENCILFFT_NO_MEMORY,
           PENCILFFT_FFTW_ERROR, PENCILFFT_MPI_ERROR, PENCILFFT_NOT_POSSIBLE);
    printf("norm %d %d %d\n", PENCILFFT_NORM_NONE, PENCILFFT_NORM_N, PENCILFFT_NORM_SQRT_N);
    printf("direction %d %d\n", PENCILFFT_FORWARD, PENCILFFT_BACKWARD);
    printf("pencil %d %d %d %d %d %d %d %d\n", PENCILFFT_Z_PENCIL, PENCILFFT_Y_PENCIL, PENCILFFT_X_PENCIL, PENCILFFT_INPUT,
           PENCILFFT_OUTPUT, PENCILFFT_INNER_INPUT, PENCILFFT_INNER_OUTPUT, PENCILFFT_BEFORE);
    printf("exchange %d %d %d %d\n", PENCILFFT_ROW, PENCILFFT_COLUMN, PENCILFFT_REMAP_IN, PENCILFFT_REMAP_OUT);
    printf("most %d %d\n", PENCILFFT_MAX_EXCHANGES, PENCILFFT_MAX_PHASES);
    return 0;
}
