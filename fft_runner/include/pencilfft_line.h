/* libpencilfft: one-dimensional FFTs of lines that are distributed over ranks, and of bricks whose lines are distributed.
 *
 * The layout of the points
 * ------------------------
 * A line has n points. Before a forward transform, and after a backward transform, rank r of P holds block r of n over P
 * (natural order, as pencilfft.h divides an axis). After a forward transform, `order` gives the layout:
 *
 *     order             before   after                        all-to-alls: transpose   binary2, binary4   dft
 *     natural           blocks   blocks                                    3           stages and 1       0
 *     transposed        blocks   as the algorithm leaves it                2           stages             1 stage
 *     transposed-both   columns  as the algorithm leaves it                1           as transposed      as transposed
 *
 * pencilfft_line_points() and pencilfft_line_index() list the points of a rank. "transposed-both" begins with the points
 * after the first all-to-all of the transposes (columns of the matrix below). The other algorithms treat this order as
 * "transposed". A chirp begins with blocks in every order.
 *
 * Algorithms
 * ----------
 *     transpose   N = N1 N2 as a matrix: FFTs of columns, twiddle factors, FFTs of rows, with all-to-alls between
 *                 (six-step). Any N and P. If no N1 and N2 divide N into parts that P ranks can share (primes), a chirp
 *                 (Bluestein) over M >= 2N - 1 points takes its place, with four all-to-alls in every order. Its result is
 *                 in blocks, and N must be below 2^31.
 *     binary2     binary exchange: a stage for each factor r of P. The factors are 2 as often as it divides P, and then the
 *     binary4     remaining primes (binary4: 4, then 2, then primes). Each rank sends its whole block to the r - 1 other
 *                 ranks of its group, and takes its own sum of the r blocks: a dense DFT of r points by an allgather. P
 *                 must divide N.
 *     dft         a single such stage for all ranks. In order natural, or if P does not divide N, every rank gathers the
 *                 line and transforms the line for its own block. Any N and P.
 *     dft-reduce  the same by a reduce-scatter: each rank sends the others the contributions of its block to their blocks,
 *                 and they add the contributions. In all, messages and bytes equal those of dft.
 *
 * Errors are as in pencilfft.h. Nothing is normalised: backward after forward gives n times the input. Source: A. Jocksch,
 * N. Tselepidis, V. Karakasis, Improved scaling of massively parallel FFTs on modern supercomputers, Cray User Group 2021;
 * D. Bailey, FFTs in external or hierarchical memory, 1990 (six-step). docs/distributed-lines.md compares the speed of the
 * algorithms. */
#ifndef PENCILFFT_LINE_H
#define PENCILFFT_LINE_H

#include "pencilfft.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Descriptor of a plan for lines. Call pencilfft_line_desc_init() first, then change members as needed. */
typedef struct {
    size_t struct_bytes; /* of this structure in the program; pencilfft_line_desc_init() sets it */
    int64_t n; /* points of a line; no default */
    int64_t lines; /* transformed together; each rank holds its points of line 0, then of line 1, ... 1 by default */
    const char *algorithm; /* "transpose" (default), see pencilfft_line_algorithm_name() */
    const char *order; /* "natural" (default), see pencilfft_line_order_name() */
    const char *precision; /* "double" (default), "single" */
    const char *rigor; /* FFTW planning: "estimate", "measure" (default), "patient" */
    const char *sync; /* before each exchange: "none" (default), "barrier", "clock"; its waiting time is in no phase */
} pencilfft_line_desc;

/* A plan for lines. */
typedef struct pencilfft_line_plan_s *pencilfft_line_plan;

/* Gives every member its default. Local. */
void pencilfft_line_desc_init(pencilfft_line_desc *desc);
void pencilfft_line_desc_init_bytes(pencilfft_line_desc *desc, size_t bytes); /* as pencilfft_desc_init_bytes() */
#define pencilfft_line_desc_init(desc) pencilfft_line_desc_init_bytes((desc), sizeof(pencilfft_line_desc))

/* Collective over comm, while MPI runs; all ranks give the same descriptor. comm is duplicated. */
int pencilfft_line_create(const pencilfft_line_desc *desc, MPI_Comm comm, pencilfft_line_plan *plan);
/* Collective, before MPI_Finalize. A null plan is ignored. */
int pencilfft_line_destroy(pencilfft_line_plan plan);

/* Complex numbers that in and out must hold on this rank: its points of all lines, before and after. Local. */
int pencilfft_line_elements(pencilfft_line_plan plan, int64_t *elements);

/* Transform in to out. in and out may be the same buffer; otherwise they must not overlap, and in is kept. Both must be
 * aligned to 16 bytes. Collective. */
int pencilfft_line_execute(pencilfft_line_plan plan, pencilfft_direction direction, const void *in, void *out);

/* The number of points of a line on a rank before (PENCILFFT_INPUT) or after (PENCILFFT_OUTPUT) a forward transform, and the
 * index in the line of the i-th of these points. Local. */
int pencilfft_line_points(pencilfft_line_plan plan, int array, int rank, int64_t *points);
int pencilfft_line_index(pencilfft_line_plan plan, int array, int rank, int64_t i, int64_t *index);
/* The same for all of these points at once: as many numbers as in pencilfft_line_points(). Local. */
int pencilfft_line_indices(pencilfft_line_plan plan, int array, int rank, int64_t indices[]);

/* The exchanges of a forward transform in their order: their number, the name of an exchange ("to_columns", "to_rows",
 * "to_blocks", "stage_1", ...; NULL for other numbers), and its kind, an all-to-all (1) or an exchange of whole blocks in
 * a group (0). Local. */
int pencilfft_line_exchanges(pencilfft_line_plan plan, int *n);
const char *pencilfft_line_exchange_name(pencilfft_line_plan plan, int exchange);
int pencilfft_line_is_all_to_all(pencilfft_line_plan plan, int exchange);
/* Traffic from this rank to each rank in an exchange: bytes[rank] and messages[rank], an element per rank. A rank's own part
 * is not counted. Either may be NULL. Local. */
int pencilfft_line_traffic(pencilfft_line_plan plan, int exchange, pencilfft_direction direction, int64_t bytes[],
                           int64_t messages[]);

/* The timed parts of a transform: fft_line (all computing), pack_, exchange_ and unpack_ of every exchange, and total, their
 * sum. The functions give their number, the name of a phase (NULL for other numbers) and the seconds of each in the last
 * execute. Local. */
int pencilfft_line_phases(pencilfft_line_plan plan, int *n);
const char *pencilfft_line_phase_name(pencilfft_line_plan plan, int phase);
int pencilfft_line_phase_seconds(pencilfft_line_plan plan, double seconds[]);

/* The i-th known name, NULL after the last. */
const char *pencilfft_line_algorithm_name(int i);
const char *pencilfft_line_order_name(int i);

/* Bricks on which the lines run directly
 * --------------------------------------
 * An array A[x][y][z] lies on P x Q x S ranks, divided like decomposition brick of pencilfft.h: rank (c * Q + b) * P + a
 * holds block a of x, b of y, c of z, with z fastest. A forward transform takes the lines along z, then along y, then along
 * x, each line across its ranks, by one of the algorithms above. A backward transform takes the opposite order. The array as
 * a whole is never transposed. Along y and x a rank transposes its brick in its own memory, before and after. If an axis has
 * a single rank, that rank does an FFT. An axis of one point is not transformed, so an array with nz = 1 has two
 * dimensions. */

/* Descriptor of a plan for bricks of lines. Call pencilfft_brick_lines_desc_init() first, then change members as needed. */
typedef struct {
    size_t struct_bytes; /* of this structure in the program; pencilfft_brick_lines_desc_init() sets it */
    int64_t nx, ny, nz; /* extents; no default */
    int bricks[3]; /* P, Q and S: ranks along x, y and z, all of the communicator together; no default */
    int fields; /* arrays transformed together; each rank holds its brick of field 0, then of field 1, ... 1 by default */
    const char *algorithm; /* of every axis; from here on like the members of pencilfft_line_desc */
    const char *order;
    const char *precision;
    const char *rigor;
    const char *sync; /* among the ranks of a line */
} pencilfft_brick_lines_desc;

/* A plan for bricks of lines. */
typedef struct pencilfft_brick_lines_s *pencilfft_brick_lines;

/* Gives every member its default. Local. */
void pencilfft_brick_lines_desc_init(pencilfft_brick_lines_desc *desc);
void pencilfft_brick_lines_desc_init_bytes(pencilfft_brick_lines_desc *desc, size_t bytes); /* likewise */
#define pencilfft_brick_lines_desc_init(desc) \
    pencilfft_brick_lines_desc_init_bytes((desc), sizeof(pencilfft_brick_lines_desc))

/* Collective over comm, while MPI runs; all ranks give the same descriptor. comm is duplicated. */
int pencilfft_brick_lines_create(const pencilfft_brick_lines_desc *desc, MPI_Comm comm, pencilfft_brick_lines *plan);
/* Collective, before MPI_Finalize. A null plan is ignored. */
int pencilfft_brick_lines_destroy(pencilfft_brick_lines plan);

/* Complex numbers that in and out must hold on this rank. Local. */
int pencilfft_brick_lines_elements(pencilfft_brick_lines plan, int64_t *elements);

/* Transform in to out. in and out may be the same buffer; otherwise they must not overlap, and in is kept. Both must be
 * aligned to 16 bytes. Nothing is normalised: backward after forward gives nx * ny * nz times the input. Collective. */
int pencilfft_brick_lines_execute(pencilfft_brick_lines plan, pencilfft_direction direction, const void *in, void *out);

/* The brick of a rank before (PENCILFFT_INPUT) or after (PENCILFFT_OUTPUT) a forward transform: its points along x, y and z,
 * and the index in the array of the i-th of these along an axis. In order natural the indices follow one another. Local. */
int pencilfft_brick_lines_extent(pencilfft_brick_lines plan, int array, int rank, int64_t extent[3]);
int pencilfft_brick_lines_index(pencilfft_brick_lines plan, int array, int rank, int axis, int64_t i, int64_t *index);
/* The indices of all of these along an axis: as many numbers as in pencilfft_brick_lines_extent(). Local. */
int pencilfft_brick_lines_indices(pencilfft_brick_lines plan, int array, int rank, int axis, int64_t indices[]);

/* The exchanges of a forward transform in their order, as for a line. Their names begin with the axis: "z_stage_1",
 * "x_to_columns". Local. */
int pencilfft_brick_lines_exchanges(pencilfft_brick_lines plan, int *n);
const char *pencilfft_brick_lines_exchange_name(pencilfft_brick_lines plan, int exchange);
int pencilfft_brick_lines_is_all_to_all(pencilfft_brick_lines plan, int exchange);
/* Traffic from this rank to each rank of the communicator in an exchange, as in pencilfft_line_traffic(). Local. */
int pencilfft_brick_lines_traffic(pencilfft_brick_lines plan, int exchange, pencilfft_direction direction, int64_t bytes[],
                                  int64_t messages[]);

/* The timed parts of a transform. Every axis has fft_z (all computing), and pack_, exchange_ and unpack_ of its exchanges,
 * and pack_y and unpack_y, the time of transposing the brick. total is the sum of all. The functions are as for a line.
 * Local. */
int pencilfft_brick_lines_phases(pencilfft_brick_lines plan, int *n);
const char *pencilfft_brick_lines_phase_name(pencilfft_brick_lines plan, int phase);
int pencilfft_brick_lines_phase_seconds(pencilfft_brick_lines plan, double seconds[]);

#ifdef __cplusplus
}
#endif
#endif
