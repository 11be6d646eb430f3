/* libpencilfft: three-dimensional FFTs over MPI by pencils or slabs, from and to bricks or any other boxes.
 *
 * Index order and names, for library, runner and tests
 * --------------------------------------------------------------
 * The global array is A[x][y][z], 0 <= x < nx and so on; its global index is (x * ny + y) * nz + z. When n indices are
 * divided over m parts, each block has n/m indices, and each of the first n%m blocks has one more. A transform is a
 * sequence of arrays with an exchange between each two neighbours. The decomposition divides each array:
 *
 * pencil   The process grid is RxC: R tasks in a row (first exchange of a forward transform), C tasks in a column.
 *          Grid rank r = q * R + p has position p in row q:
 *              row q      the ranks with the same q; they hold the same block of x
 *              column p   the ranks with the same p; they hold the same block of z between and after the exchanges
 * slab     The process grid is one number P, all tasks (R = 1 and C = P); they take part in its one exchange, named slab.
 *
 *                                                                          memory, slowest to fastest
 *              array          whole axis   x block   y block   z block      natural     stride1
 *     pencil   0 (Z pencil)   z            q of C    p of R    whole        x y z       x y z
 *              1 (Y pencil)   y            q of C    whole     p of R       x y z       x z y
 *              2 (X pencil)   x            whole     q of C    p of R       x y z       z y x
 *     slab     0              z, y         r of P    whole     whole        x y z       x y z
 *              1              x, z         whole     r of P    whole        x y z       y z x
 *
 * brick    The arrays and the grid RxC of pencils, between a remap from bricks and a remap to bricks. "brick:PxQxS" has P
 *          bricks along x, Q along y and S along z, P*Q*S ranks in all; rank (c * Q + b) * P + a holds block a of x, b of
 *          y, c of z. "brick" has the bricks with the least surface. If R and C are 0, their choice takes the remaps
 *          into account. Schedules two-way and opposite are not for this decomposition. Any other boxes, before or after
 *          any decomposition, are given as input_box and output_box. A rank does not send its own part. Remaps are done by
 *          exchanges alltoallw, p2p, persistent, node and put if so named, otherwise by alltoallv.
 *
 * A forward transform takes array 0 (PENCILFFT_INPUT) to the last array (PENCILFFT_OUTPUT). A backward transform takes the
 * last array to the first. The order of the axes is not changed back. pencilfft_box_mine() gives the places of the elements,
 * and pencilfft_format_of() their type.
 *
 * Schedules
 * ---------
 *     text                 order                                                                  the output
 *     sequence             pass, exchange, pass, exchange, pass                                   as above
 *     overlap[:K[:AXIS]]   K chunks: rows of a chunk are exchanged beside columns of another      as above
 *     overlap:1,2,4[:AXIS] the same with chunks of these relative sizes
 *     pipelined[:K]        chunks are exchanged beside the FFTs, rows before columns              as above
 *     two-way[:L]          the planes z < L go as above, the others exchange columns before rows  two parts
 *     opposite             half of the fields go as above, the others columns before rows         two parts if fields > 1
 *
 * AXIS is the axis that is cut: x, z or field. The default is the first of these whose smallest block has K indices.
 * Without K or L the library chooses K or L by the sizes. The part that exchanges columns before rows goes through these
 * arrays of decomposition pencil:
 *
 *              array          whole axis   x block   y block   z block      natural     stride1
 *              1              x            whole     p of R    q of C       x y z       y z x
 *              2 (Y pencil)   y            p of R    whole     q of C       x y z       z x y
 *
 * Here z is divided over the planes of this part. Arrays 1 and 2 then consist of two parts, one behind the other in memory:
 * first X pencils, then Y pencils. pencilfft_part_mine() gives the parts.
 *
 * Types
 * -----
 *     type        forward takes      along z     y           x           and gives
 *     c2c         complex            c2c         c2c         c2c         complex
 *     r2c         real               r2c         c2c         c2c         complex, z of nz/2 + 1
 *     c2r         real               r2c         c2c         c2c         complex, z of nz/2 + 1
 *     dct         real               dct2        dct2        dct2        real
 *     dst         real               dst2        dst2        dst2        real
 *     chebyshev   real               r2c         c2c         dct1        complex, z of nz/2 + 1
 *     empty       real               r2c         c2c         none        complex, z of nz/2 + 1
 *
 * These are short names. A type may also list the kinds along x, y and z, as "dct1,c2c,r2c" does for chebyshev:
 *
 *     kind            backward after forward    waves of the modes, in n grid steps    points, in grid steps
 *     none            1                         0                                      0, 1, ...
 *     c2c             n                         0, 1, ..., -2, -1                      0, 1, ...
 *     r2c             n                         0, 1, ..., n/2: n/2 + 1 modes          0, 1, ...
 *     dct1            2 (n - 1)                 n/(2(n - 1)) times 0, 1, ..., n - 1    0, 1, ..., n - 1; at least 2
 *     dct2            2 n                       0, 1/2, 1, ..., (n - 1)/2              1/2, 3/2, ..., n - 1/2
 *     dct3            2 n                       1/4, 3/4, ..., n/2 - 1/4               0, 1, ..., n - 1
 *     dct4            2 n                       1/4, 3/4, ..., n/2 - 1/4               1/2, 3/2, ..., n - 1/2
 *     dst1            2 (n + 1)                 n/(2(n + 1)) times 1, 2, ..., n        1, 2, ..., n
 *     dst2            2 n                       1/2, 1, ..., n/2                       1/2, 3/2, ..., n - 1/2
 *     dst3            2 n                       1/4, 3/4, ..., n/2 - 1/4               1, 2, ..., n
 *     dst4            2 n                       1/4, 3/4, ..., n/2 - 1/4               1/2, 3/2, ..., n - 1/2
 *
 * Kinds go together in any way, but r2c is for the first axis of the order alone: there real numbers become complex, and a
 * complex number has no r2c. With r2c the input is real and the output complex, else both are complex if an axis has c2c,
 * and real if none has. Cosines and sines of a complex number are those of its real and its imaginary part; a plan with
 * nothing else is real, and takes complex numbers as two interleaved fields. `kinds` and `skip` change short names only.
 * With two dimensions a list has two kinds.
 *
 * The spectrum of a real array has nz/2 + 1 indices along z; the rest follows from these. Transforms are plain sums as in
 * FFTW: forward DFTs have exp(-2 pi i ...), backward exp(+2 pi i ...). The backward real transforms are the inverse kinds
 * (II and III belong together). Without pencilfft_set_norm(), backward after forward gives pencilfft_scale() times the
 * input: the product of the factors of the axes, with padding those of the points. r2c and c2r are two names for the same
 * type.
 *
 * Order of the axes
 * -----------------
 * `order` names the axes in the order in which a forward transform goes through them: all that is said above of the arrays
 * and DFTs along z, y and x holds for its first, second and last letter. So the first is whole in the input, and real
 * transforms halve it; the last is whole in the output. With "xyz" A[nx][ny][nz] is divided along y and z, and its spectrum
 * has nx/2 + 1 indices along x. Layout natural stores every array as A[x][y][z] in any order. Members (also kinds and
 * "brick:PxQxS"), boxes, formats, waves, phases (fft_x) and schedules (overlap:4:y) name the caller's axes; arrays and
 * exchanges keep their numbers and names, so PENCILFFT_Z_PENCIL is array 0, whose whole axis is the first of the order. No
 * order copies more than another; lines that are not contiguous are gathered in the caches.
 * Two letters, "yx" or "xy", are an array A[x][y] of two dimensions (nz is 0 or 1, boxes have one z). One axis is divided
 * at a time: decomposition pencil has the grid Px1, and exchange row between the two axes; column moves nothing.
 * Decomposition brick has blocks of both axes before and after, "brick:PxQ". Slabs, types chebyshev and empty, and schedules
 * two-way and opposite are for three dimensions.
 *
 * Padding
 * -------
 * With padded_nx, padded_ny or padded_nz the points of an axis are more than its modes. A forward transform takes lines of
 * padded_nx points and keeps the modes of nx points; a backward transform sets the other modes to 0 and gives padded_nx
 * points. nx = 64 and padded_nx = 96 is the 3/2 rule; modes nxc of nx points (pruning) are nx = nxc and padded_nx = nx. Any
 * axis with a DFT and any length will do. Zeros are neither sent nor transformed along another axis, and only kept modes
 * travel. The input has padded_nx points, the output the boxes and waves of a plan without padding. Sums are over all
 * points, so the scale has padded_nx in place of nx: you should divide a spectrum by the points before you compare it with
 * another plan's. If nx is even, the mode nx/2 stands for both -nx/2 and nx/2: forward adds the two, and backward gives half
 * of it to each. Along a halved z this is twice the real part of each line's mode, and half of it. So a spectrum survives
 * backward and forward, and the backward transform interpolates the points of a plan without padding.
 *
 * Exchanges in single precision
 * -----------------------------
 * With precision "double" and exchange_precision "single", arrays and computing are in double precision, and packing rounds
 * each number to a float, so that messages have half the bytes. Any exchange, schedule and type will do, remaps included;
 * halos are exchanged in double precision. A number is rounded once in each exchange and remap, even if it stays on its
 * rank, by at most u = 2^-24 of itself (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002,
 * theorem 2.2). Transforms keep relative errors in the L2 norm, so m exchanges add at most m u: pencilfft_exchange_error().
 * Roundings are independent, each with u/2.5 in the mean, so that about 0.4 sqrt(m) u is usual. The bound holds for DFTs
 * without padding; a norm that a transform does not keep, as of a spectrum that padding cuts, may have more in rare cases.
 * Numbers above 3.4e38 become infinite, and those below 1.2e-38 lose digits: you should scale fields of such numbers.
 *
 * Errors
 * ------
 * Functions of type int return a pencilfft_status, unless their comment says otherwise. pencilfft_error_message() gives the
 * message of the last call that failed. pencilfft_plan_create() fails on all ranks or on none, with the same message. A
 * failure of MPI itself (PENCILFFT_MPI_ERROR), and a failure of execute, may be known on one rank only, which should then
 * call MPI_Abort. Inside FFTW's MPI library (exchange fftw) a failure of MPI ends the program.
 *
 * Set the environment variable PENCILFFT_CHECK_CALLS to 1 before a plan is made to compare the collective calls of the plan
 * and of its halos. If a call differs between ranks, or cannot be done on one rank, the call fails on all ranks with the
 * same message. Without the variable ranks that differ, for example forward here and backward there, may wait for each
 * other, or go on with meaningless numbers and status 0 (exchange node fails on the ranks of a group on one node). A number
 * above 1 also sets the seconds that ranks wait for a rank that does not come, because it has no plan or calls something
 * else. Then the job will end with a message. 0 means no check; other texts are refused.
 * Plans for lines (pencilfft_line.h) do the same. A null communicator is known on its rank alone.
 *
 * Communicators
 * -------------
 * The plans on one communicator share a duplicate of the communicator and its groups of ranks. So any number of plans can be
 * alive at once, although an MPI has few communicators. Only exchanges fftw and put make more for each plan. The duplicate
 * is freed when the program has freed its communicator and all plans on it, in any order. With MPI_THREAD_MULTIPLE each plan
 * has its own, and so has each plan with `nonblocking`.
 *
 * Threads
 * -------
 * A plan of several threads shares the passes over memory, and the copies beside them, among OpenMP threads of the rank.
 * Only the calling thread calls MPI, which must run with MPI_THREAD_FUNNELED or more. Meanwhile the others sleep, or spin
 * according to OMP_WAIT_POLICY. A library built without OpenMP refuses such a plan. Phases are the times of the calling
 * thread. Its wait for the others at the end of a pass counts in the phase at the end of the pass. Inside a parallel region
 * of the program, if OpenMP gives no more threads, the calling thread does all the work. With MPI_THREAD_MULTIPLE several
 * threads may execute at once, each another plan. Everything else, plans and wisdom, is for one thread at a time, because
 * FFTW's planner is. */
#ifndef PENCILFFT_H
#define PENCILFFT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library, as text. */
#define PENCILFFT_VERSION "0.3.0"

/* Status of every function that can fail. */
typedef enum {
    PENCILFFT_OK = 0,
    PENCILFFT_BAD_CALL,     /* a null pointer or communicator, MPI not running, buffers that overlap or are not aligned */
    PENCILFFT_BAD_SIZE,     /* extents below 1, or too large to count */
    PENCILFFT_BAD_GRID,     /* grid that does not match the communicator */
    PENCILFFT_UNKNOWN_NAME, /* a name that is not in its table; kinds, skip or a schedule that is not understood */
    PENCILFFT_MISMATCH,     /* descriptors or calls differ between ranks */
    PENCILFFT_TOO_LARGE,    /* more numbers than exchange fftw, or an exchange of lines, counts */
    PENCILFFT_NO_MEMORY,
    PENCILFFT_FFTW_ERROR,
    PENCILFFT_MPI_ERROR,
    PENCILFFT_NOT_POSSIBLE  /* choices that do not go together, or that these extents or this MPI do not allow */
} pencilfft_status;

/* Direction of a transform or an exchange. A descriptor may have both, or-ed. */
typedef enum { PENCILFFT_FORWARD = 1, PENCILFFT_BACKWARD = 2 } pencilfft_direction;
/* Arrays are numbered. Array 0 is the array before the first exchange. The number of the array after the last exchange is
 * the number of exchanges. All of them have the element type of the forward output. PENCILFFT_INPUT is the input of a
 * forward transform (and the output of a backward transform), PENCILFFT_OUTPUT its output. The output and the last array are
 * the same. The input and array 0 are the same unless z is halved. */
enum { PENCILFFT_INPUT = -2, PENCILFFT_OUTPUT = -1 };
/* If the input or the output has boxes of its own (bricks, or boxes of the descriptor), a remap moves the data: from the
 * input to PENCILFFT_INNER_INPUT, which is divided like array 0, or from the last array, PENCILFFT_INNER_OUTPUT, to the
 * output. Without a remap the inner array and the outer array are the same. Remaps are exchanges with these numbers. */
enum { PENCILFFT_INNER_INPUT = -4, PENCILFFT_INNER_OUTPUT = -3 };
/* Array PENCILFFT_BEFORE + a, from a = 1 on, is array a before its lines are transformed: as exchange a - 1 of a forward
 * transform leaves it. It differs from array a only if padded lines are transformed there. */
enum { PENCILFFT_BEFORE = 16 };
enum { PENCILFFT_REMAP_IN = -2, PENCILFFT_REMAP_OUT = -1 };
/* Arrays and exchanges of decomposition pencil, in the order of a forward transform. */
enum { PENCILFFT_Z_PENCIL, PENCILFFT_Y_PENCIL, PENCILFFT_X_PENCIL };
enum { PENCILFFT_ROW, PENCILFFT_COLUMN };

/* A number of threads: as many as OpenMP would take. */
enum { PENCILFFT_OMP_THREADS = -1 };

/* The factor of a transform: 1, 1/N or 1/sqrt(N), where N is pencilfft_scale(). */
typedef enum { PENCILFFT_NORM_NONE, PENCILFFT_NORM_N, PENCILFFT_NORM_SQRT_N } pencilfft_norm;

/* No decomposition has more exchanges, and no transform has more phases. */
enum { PENCILFFT_MAX_EXCHANGES = 4, PENCILFFT_MAX_PHASES = 24 }; /* 4, and 5 for each exchange */

/* The work that a phase measures. */
typedef enum {
    PENCILFFT_FFT,      /* the transforms along an axis */
    PENCILFFT_PACK,     /* packing, exchange and unpacking of an exchange */
    PENCILFFT_EXCHANGE,
    PENCILFFT_UNPACK,
    PENCILFFT_TOTAL,
    PENCILFFT_WAIT,     /* wait of `sync` before an exchange; in no other phase and not in the total */
    PENCILFFT_HIDDEN /* time an exchange was on its way while this rank did other work, which is in other phases: between the
                      * end of its start and the beginning of its finish, added up over the chunks; not in the total */
} pencilfft_kind;

/* A rank's part of an array. Axis 0 is x, 1 is y, 2 is z.
 * Global element (x, y, z) is local element  sum over axes of (index - offset) * stride. */
typedef struct {
    int64_t offset[3], extent[3], stride[3];
} pencilfft_box;

/* Descriptor of a plan. Call pencilfft_desc_init() first, then change members as needed. */
typedef struct {
    size_t struct_bytes; /* of this structure in the program; pencilfft_desc_init() sets it */
    int64_t nx, ny, nz; /* extents; no default. With two dimensions nz is 0 or 1 */
    int R, C; /* process grid; R * C is the size of the communicator. 0 (default): chosen, see pencilfft_grid(). If an extent
               * is shorter than its number of ranks, some ranks hold nothing; they take part like the others */
    const char *decomposition; /* "pencil" (default), "slab": R = 1 and C = P, "brick:PxQxS" */
    int directions; /* PENCILFFT_FORWARD, PENCILFFT_BACKWARD or both (default) or-ed */
    const char *type; /* "c2c" (default), another name of the table above, or kinds: "dct1,c2c,r2c" */
    const char *kinds; /* for dct and dst only: kinds along x,y,z, 1 to 4; c or s in front for (co)sine. NULL: "2,2,2" */
    const char *skip; /* letters of axes that are not transformed: "x", "yz"; NULL: none. Not z if z is halved. For short
                       * names of types; a list of kinds has "none" there */
    const char *precision; /* "double" (default), "single" */
    const char *exchange_precision; /* NULL (default): precision; "single" with precision "double": see Exchanges in single
                                     * precision */
    const char *order; /* of the axes: "zyx" (default) or another, see Order of the axes; two dimensions: "yx", "xy" */
    const char *layout; /* "natural" (default), "stride1": the table above */
    const char *exchange; /* see pencilfft_exchange_name(); "auto" tries them. NULL (default): "node" under schedule sequence
                           * if all ranks are on one node, with one exchange and room in shared memory, and without
                           * destroy_input, caller_work, nonblocking and MPI_THREAD_MULTIPLE; else "alltoallv" */
    const char *rigor; /* FFTW planning: "estimate", "measure" (default), "patient" */
    const char *sync; /* before each exchange: "none" (default), "barrier", "clock" */
    const char *schedule; /* a schedule of the table above; "auto": tries schedules that keep the boxes; NULL (default):
                           * "sequence", or "auto" with exchange "auto" */
    double auto_budget_s; /* seconds of trials for exchange "auto"; 3 by default */
    int fields; /* arrays transformed together; each follows the previous one in memory; 1 by default */
    int interleaved; /* 1: the fields are the fastest index of all arrays, A[x][y][z][field]; 0 (default) */
    const char *torus; /* torus of the ranks, for exchange "p2p": "8x8x8", "8x8x8:mesh", "8wx8x4w"; NULL: unknown */
    const char *node; /* this rank's own coordinate in the torus, for example "1 2 3" */
    const pencilfft_box *input_box; /* this rank's part of the input; NULL: the decomposition's part. Given on all ranks or
                                     * on none, and read while the plan is made. Together the boxes hold every element once;
                                     * a box may be empty. Strides are not read: elements lie densely, in the decomposition's
                                     * order of axes for the array */
    const pencilfft_box *output_box; /* the same for the output */
    int threads; /* threads that share a rank's work, the same number on all ranks. 0 or 1 (default): the calling thread
                  * alone, for any OMP_NUM_THREADS; PENCILFFT_OMP_THREADS: the number of OMP_NUM_THREADS or
                  * omp_set_num_threads() */
    int destroy_input; /* 1: a transform between two buffers may overwrite its input, which saves the plan its work buffer
                        * with most exchanges, and a rank alone a copy for c2r; 0 (default): the input is kept */
    int nonblocking; /* 1: pencilfft_start() may run the plan, which then has communicators of its own (three for pencils,
                      * two for slabs). Needs sync "none" and an exchange that runs beside other work; 0 (default):
                      * it may not */
    int caller_work; /* 1: the program gives the work memory by pencilfft_set_work(); 0 (default): the plan allocates it */
    int64_t padded_nx, padded_ny, padded_nz; /* points along an axis with a DFT, at least nx, ny, nz: see Padding; 0
                                              * (default): no more than nx, ny, nz */
} pencilfft_desc;

/* Some fields of a box: a part of an array. Element (x, y, z) of field f is element start + (f - first_field) * field_stride
 * + (element within the box) of the buffer. */
typedef struct {
    pencilfft_box box;
    int64_t start;
    int first_field, fields;
    int64_t field_stride;
} pencilfft_part;

/* The format of an array. Field f begins field_stride elements after field f - 1: 1 if the fields are interleaved; 0 if the
 * array has several parts. */
typedef struct {
    size_t element_bytes, real_bytes;
    int is_complex;
    int fields;
    int64_t field_stride;
    int64_t n[3]; /* global extents */
} pencilfft_format;

/* The operation along an axis. */
typedef enum {
    PENCILFFT_LINE_NONE, /* the axis is not transformed */
    PENCILFFT_LINE_DFT,
    PENCILFFT_LINE_R2C,
    PENCILFFT_LINE_COSINE,
    PENCILFFT_LINE_SINE
} pencilfft_line_kind;

/* The transform along an axis. */
typedef struct {
    pencilfft_line_kind kind;
    int number; /* 1 to 4 for cosine and sine transforms I to IV; else 0 */
    int64_t n, points; /* points whose modes are kept, as in nx; points of a line, more with padding */
} pencilfft_line;

/* A plan. */
typedef struct pencilfft_plan_s *pencilfft_plan;

/* Gives every member its default. A descriptor that was not initialised is refused. Programs compiled with this header will
 * go on to work with later libraries of the same SONAME, whose descriptors may be longer. Local. */
void pencilfft_desc_init(pencilfft_desc *desc);
void pencilfft_desc_init_bytes(pencilfft_desc *desc, size_t bytes); /* with the program's size of the structure */
#define pencilfft_desc_init(desc) pencilfft_desc_init_bytes((desc), sizeof(pencilfft_desc))
/* The same for languages that do not know the structure: make a descriptor with its defaults (NULL: no memory), set its
 * members by name, and free the descriptor. Strings are not copied; they must live until the plan is made. Local. */
pencilfft_desc *pencilfft_desc_new(void);
int pencilfft_desc_set_integer(pencilfft_desc *desc, const char *member, int64_t value);
int pencilfft_desc_set_real(pencilfft_desc *desc, const char *member, double value);
int pencilfft_desc_set_text(pencilfft_desc *desc, const char *member, const char *value);
int pencilfft_desc_set_box(pencilfft_desc *desc, const char *member, const pencilfft_box *value); /* not copied either */
void pencilfft_desc_free(pencilfft_desc *desc);

/* Collective over comm, while MPI runs. The rank in comm is the grid rank; comm is duplicated. */
int pencilfft_plan_create(const pencilfft_desc *desc, MPI_Comm comm, pencilfft_plan *plan);
/* Collective, before MPI_Finalize. Frees the plan and every buffer of pencilfft_alloc(); a null plan is ignored. */
int pencilfft_plan_destroy(pencilfft_plan plan);

/* The process grid: as given, or chosen for numbers that were 0. If a single number was 0, the other number decides. If both
 * were 0, exchange "auto" tries the grids, slabs (1xP and Px1) among them: pencilfft_grid_trials(). Without "auto" a rule
 * decides: if torus and node are given, the loads of the busiest links; if all ranks share a node, the work, so that there
 * is one exchange unless its messages are short; otherwise the grid is the squarest whose rows stay inside nodes, or the
 * squarest of all if these rows would have one rank. With remaps the bytes sent decide, unless torus and node are given.
 * Without remaps the rule ignores padding, so that plans of one spectrum have one grid. Slabs have R = 1. Local. */
int pencilfft_grid(pencilfft_plan plan, int *R, int *C);

/* The number of threads that share the work of a rank, 1 or more. Local. */
int pencilfft_threads(pencilfft_plan plan, int *threads);

/* The numbers of bricks along x, y and z; 0 0 0 if the decomposition has none. Local. */
int pencilfft_bricks(pencilfft_plan plan, int bricks[3]);

/* Prints the plan of the calling rank: the passes over memory with their transforms, blocks and buffers, and between each
 * two passes the exchange with its messages. pencilfft_plan_text() gives the same as a text, which belongs to the plan and
 * lasts until the next call of this function. Local. */
int pencilfft_plan_print(pencilfft_plan plan, FILE *out);
int pencilfft_plan_text(pencilfft_plan plan, const char **text);

/* Box of a rank in an array; pencilfft_box_mine(): of the calling rank. Fails if the array has several parts. Local. */
int pencilfft_box_of(pencilfft_plan plan, int array, int rank, pencilfft_box *box);
int pencilfft_box_mine(pencilfft_plan plan, int array, pencilfft_box *box);
/* The number of parts of an array, the same on all ranks, and part i of a rank or of the calling rank. A part may be empty.
 * Local. */
int pencilfft_parts(pencilfft_plan plan, int array, int *n);
int pencilfft_part_of(pencilfft_plan plan, int array, int rank, int i, pencilfft_part *part);
int pencilfft_part_mine(pencilfft_plan plan, int array, int i, pencilfft_part *part);
/* The format of an array: element type, fields and extents. Local. */
int pencilfft_format_of(pencilfft_plan plan, int array, pencilfft_format *format);
/* Backward after forward gives the input times *scale. Local. */
int pencilfft_scale(pencilfft_plan plan, double *scale);
/* The most relative error, in the L2 norm, that exchanges in single precision add to a transform: 2^-24 for each exchange
 * and remap among several ranks; 0 if numbers are sent as they are. Local. */
int pencilfft_exchange_error(pencilfft_plan plan, double *error);
/* The forward transform along an axis. Backward does the inverse, which is kind III for II. Local. */
int pencilfft_line_of(pencilfft_plan plan, int axis, pencilfft_line *line);
/* Waves of a mode of the spectrum in the n grid steps of its axis: those of the table of kinds above, with +n/2 for mode n/2
 * of a DFT of even n, which also stands for -n/2. A grid with step h has the wavenumber 2 pi waves / (n h). Local. */
int pencilfft_waves(pencilfft_plan plan, int axis, int64_t index, double *waves);

/* The elements that this rank holds of an array, in the order of memory, for any layout, parts and fields:
 *     pencilfft_walk w;
 *     for (pencilfft_walk_begin(plan, PENCILFFT_OUTPUT, &w); pencilfft_walk_next(&w);)
 *         spectrum[w.at] *= factor(w.waves[0], w.waves[1], w.waves[2]);
 * waves are the numbers of pencilfft_waves(), and 0 for PENCILFFT_INPUT and PENCILFFT_INNER_INPUT. pencilfft_walk_next()
 * returns 1 for each element, and 0 after the last. Local. */
typedef struct {
    int64_t at; /* element of the buffer; a complex number counts as one element */
    int64_t index[3]; /* global x, y, z */
    double waves[3];
    int field;
    pencilfft_plan plan; /* private, like all members below */
    int array, parts, next_part, inside, order[3];
    pencilfft_part part;
} pencilfft_walk;
int pencilfft_walk_begin(pencilfft_plan plan, int array, pencilfft_walk *walk);
int pencilfft_walk_next(pencilfft_walk *walk);

/* The size of a buffer of pencilfft_alloc(): all fields of the largest array, or more if the exchange pads. In elements of
 * the forward output, or in bytes. */
int pencilfft_alloc_elements(pencilfft_plan plan, int64_t *elements);
int pencilfft_alloc_bytes(pencilfft_plan plan, int64_t *bytes);
/* An aligned buffer of that size. It belongs to the plan and is freed with the plan. Local.
 * Arrays from elsewhere need only hold the elements of their boxes with all fields, in place those of the longer array: no
 * call touches memory outside. If messages are longer than the output (or than the input, with destroy_input), the plan puts
 * them into memory of its own, which it allocates when it is first needed. Buffers of pencilfft_alloc() of another plan do
 * as well. If one is too short, all ranks will refuse the call. */
int pencilfft_alloc(pencilfft_plan plan, void **buffer);

/* The work memory of a plan with `caller_work`. pencilfft_work_bytes() tells the bytes for transforms between two arrays and
 * for exchanges alone, or with in_place = 1 for transforms in place, too; bricks and other boxes count as in place. 0 for
 * other plans. pencilfft_set_work() gives memory of at least the first size, aligned to 16 bytes, to the plan, until the
 * plan gets other memory or is destroyed. Plans that do not run at the same time may share memory, whose contents will be
 * lost in each run. A plan still allocates and frees work memory while it is made, for trials and for FFTW's planner.
 * Exchanges bruck, node, put and fftw keep memory of their own, and persistent, whose requests are tied to the buffers, is
 * refused. Local. */
int pencilfft_work_bytes(pencilfft_plan plan, int in_place, int64_t *bytes);
int pencilfft_set_work(pencilfft_plan plan, void *work, int64_t bytes);

/* Transform in to out. in and out may be the same buffer; otherwise they must not overlap, and in is kept unless the
 * descriptor sets destroy_input. Arrays from elsewhere than pencilfft_alloc() must be aligned to 16 bytes. Collective. */
int pencilfft_execute(pencilfft_plan plan, pencilfft_direction direction, const void *in, void *out);
int pencilfft_forward(pencilfft_plan plan, const void *in, void *out);
int pencilfft_backward(pencilfft_plan plan, const void *in, void *out);
/* The factor of all later transforms of the plan in this direction, also in pairs and in flight; PENCILFFT_NORM_NONE before
 * the first call. The last pass applies the factor to each block in the caches; only where one rank uses FFTW's plan for all
 * axes it takes a pass of its own. Not while the plan is in flight. Local; the same on all ranks. */
int pencilfft_set_norm(pencilfft_plan plan, pencilfft_direction direction, pencilfft_norm norm);
/* A forward transform of one array beside a backward transform of another, with arrays as for execute. Under schedule
 * opposite both are in flight at once. Under any other schedule the backward transform follows the forward transform. The
 * phases add up both transforms. Collective. */
int pencilfft_execute_pair(pencilfft_plan plan, const void *forward_in, void *forward_out, const void *backward_in,
                           void *backward_out);
/* A transform, or a pair, in flight: start begins and returns; progress does the work whose messages have arrived, never
 * waits, and sets *done to 1 when the results of this rank are complete; wait does the rest. Arrays are as for execute, and
 * belong to the plan until wait returns. Between start and wait the plan can do nothing else, but other plans on the same
 * communicator may be in flight or execute, and the program may send its own messages. For plans with `nonblocking`. start
 * and wait are collective: all ranks call them in the same order, among execute and other calls of the library that are
 * collective. progress is local, any number of times. MPI may do little while no call of it runs: for the most overlap you
 * should call progress now and then, for example after each block of your own work. PENCILFFT_HIDDEN phases include the time
 * between the calls. */
int pencilfft_start(pencilfft_plan plan, pencilfft_direction direction, const void *in, void *out);
int pencilfft_start_pair(pencilfft_plan plan, const void *forward_in, void *forward_out, const void *backward_in,
                         void *backward_out);
int pencilfft_progress(pencilfft_plan plan, int *done);
int pencilfft_wait(pencilfft_plan plan);
/* The number of exchanges of a transform, and the name of an exchange: "row", "column"; "slab". Exchanges are numbered from
 * 0 in the order of a forward transform. Remaps are not counted. In any argument for an exchange, PENCILFFT_REMAP_IN and
 * PENCILFFT_REMAP_OUT mean the remaps, with the names "remap_in" and "remap_out". The name is NULL for other numbers and for
 * a null plan. Local. */
int pencilfft_exchanges(pencilfft_plan plan, int *n);
const char *pencilfft_exchange_stage(pencilfft_plan plan, int exchange);
/* One exchange alone, without any FFT: exchange e takes array e to array e + 1 forward, and array e + 1 to array e backward
 * (with padding, array PENCILFFT_BEFORE + e + 1). in may be used as scratch space, and its contents will be lost. Fails if
 * array e or e + 1 has several parts. Collective. */
int pencilfft_transpose(pencilfft_plan plan, int exchange, pencilfft_direction direction, void *in, void *out);

/* The halo of an array: planes of the neighbours around this rank's box, in x, y and z alike, with edges and corners. Arrays
 * are periodic. A halo may be wider than a neighbour's box, and may reach round the whole array, but no farther. Ranks with
 * an empty box have no halo. */
typedef struct pencilfft_halo_s *pencilfft_halo;
/* Makes a halo of low[axis] planes below the box of every rank and high[axis] planes above, each at most the array's extent
 * along that axis. Not for arrays of several parts, and not along a halved z. A halo does not need the plan after this call.
 * Collective, with the same array and widths on all ranks. */
int pencilfft_halo_create(pencilfft_plan plan, int array, const int64_t low[3], const int64_t high[3], pencilfft_halo *halo);
/* Collective, before MPI_Finalize; a null halo is ignored. */
int pencilfft_halo_destroy(pencilfft_halo halo);
/* This rank's box with its halo: a dense part, in the memory order of the array, with all fields of each point of the box.
 * Offsets may be below 0, and the box may end beyond the array: indices count on, modulo its extents. Local. */
int pencilfft_halo_part(pencilfft_halo halo, pencilfft_part *part);
/* Copies this rank's elements of the array into `padded`, a buffer of the form of pencilfft_halo_part(), and fills its halo
 * from the neighbours. A null array means that its elements are inside `padded` already. array and padded must not overlap.
 * Collective. */
int pencilfft_halo_exchange(pencilfft_halo halo, const void *array, void *padded);
/* The adjoint: adds each value of the halos to its element. The sums, which include the values inside `padded`, are written
 * to the array, and `padded` is not changed. If the array is NULL, the sums stay inside `padded`, whose halo keeps its
 * values. Sums are in the same order in every run. Collective. */
int pencilfft_halo_accumulate(pencilfft_halo halo, void *padded, void *array);
/* Traffic from this rank to each rank in an exchange (PENCILFFT_FORWARD) or an accumulation (PENCILFFT_BACKWARD):
 * bytes[rank] and messages[rank], as in pencilfft_traffic(). Local. */
int pencilfft_halo_traffic(pencilfft_halo halo, pencilfft_direction direction, int64_t bytes[], int64_t messages[]);

/* The timed parts of a transform, in forward order; a backward transform runs them from the last to the first:
 *     fft_z, pack_row, exchange_row, unpack_row, fft_y, pack_column, exchange_column, unpack_column, fft_x,
 *     total, wait_row, wait_column, hidden_row, hidden_column                            (decomposition pencil)
 * Packing and unpacking are fused with the FFTs, block by block in the caches, and timed there. An axis that is not divided
 * needs neither. The phase of an exchange is the time spent in its calls. If the exchange runs beside other work, these
 * calls are only the visible part, and hidden_row and hidden_column are the time under way meanwhile. The functions give the
 * number of phases, the name of a phase (NULL for other numbers) and its pencilfft_kind (-1 for others). Local. */
int pencilfft_phases(pencilfft_plan plan, int *n);
const char *pencilfft_phase_name(pencilfft_plan plan, int phase);
int pencilfft_phase_kind(pencilfft_plan plan, int phase);
/* Seconds this rank spent in each phase of the last execute; as many as phases. */
int pencilfft_phase_seconds(pencilfft_plan plan, double seconds[]);

/* Traffic from this rank to each rank in an exchange: bytes[rank] and messages[rank], an element per rank. A rank's own part
 * is not counted. Either may be NULL. Exchange "node" sends nothing inside a node: to place ranks by their traffic, you
 * should make the plan with exchange "alltoallv". Local. */
int pencilfft_traffic(pencilfft_plan plan, int exchange, pencilfft_direction direction, int64_t bytes[], int64_t messages[]);
/* The algorithm of this exchange: the requested algorithm, or the choice of "auto". NULL for a null plan. */
const char *pencilfft_exchange_chosen(pencilfft_plan plan, int exchange);
/* Seconds of a transform when "auto" tried the i-th algorithm (pencilfft_exchange_name) for this exchange, forward and
 * backward together if the plan has both. 0 if untried, infinity after a refusal. During such a trial the exchanges before
 * this exchange use their chosen algorithms, and later exchanges use the first algorithm that works. */
int pencilfft_auto_seconds(pencilfft_plan plan, int exchange, int i, double *seconds);
/* The grids that "auto" tried when R and C were 0 and nothing was remapped, the grid of the rule first; no rows if wisdom
 * knew the grid. Seconds of whole transforms with the first exchange of the table, forward and backward together if the plan
 * has both, of the slowest rank. Local. */
typedef struct {
    int R, C;
    int runs; /* 0: refused, or not tried */
    double least, median, spread; /* spread: between the quartiles */
} pencilfft_grid_trial;
int pencilfft_grid_trials(pencilfft_plan plan, int *n);
int pencilfft_grid_trial_of(pencilfft_plan plan, int i, pencilfft_grid_trial *trial);
/* The schedule as it runs, with all choices, for example "overlap:4:x". NULL for a null plan. */
const char *pencilfft_schedule_chosen(pencilfft_plan plan);
/* The MPI calls of an exchange's algorithm, if they depend on the MPI; NULL otherwise. */
const char *pencilfft_exchange_means(pencilfft_plan plan, int exchange);

/* Wisdom: FFTW's plans and the choices of "auto". load adds the contents of a file. save replaces the file by all wisdom, or
 * leaves the file unchanged. A missing file is not an error for load, which then sets *found to 0. load will refuse a file
 * that was written on another kind of machine or with another MPI, or that is not a wisdom file. Rank 0 of comm reads or
 * writes. save keeps the permissions of the file, and follows symbolic links. A new file gets its permissions from umask,
 * but never lets all write. Collective. */
int pencilfft_wisdom_load(const char *path, MPI_Comm comm, int *found);
int pencilfft_wisdom_save(const char *path, MPI_Comm comm);
/* Forgets all wisdom, including FFTW's. Local. */
void pencilfft_wisdom_forget(void);

/* The i-th known name, NULL after the last. */
const char *pencilfft_decomposition_name(int i);
const char *pencilfft_exchange_name(int i);
const char *pencilfft_schedule_name(int i); /* without options after a colon */
const char *pencilfft_type_name(int i);
const char *pencilfft_line_kind_name(int i); /* kinds along an axis, in a type that lists them */
const char *pencilfft_precision_name(int i);
const char *pencilfft_order_name(int i);
const char *pencilfft_layout_name(int i);
const char *pencilfft_rigor_name(int i);
const char *pencilfft_sync_name(int i);
/* The number of numbers in the grid of a decomposition: 2 for "pencil", R and C; 1 for "slab", C alone beside R = 1. 0 for
 * an unknown name. */
int pencilfft_grid_numbers(const char *decomposition);

/* The message of the last failed call of this thread; valid until its next failed call. */
const char *pencilfft_error_message(void);

#ifdef __cplusplus
}
#endif
#endif
