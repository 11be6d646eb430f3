/* libpencilfft: three-dimensional FFTs over MPI by pencils.
 *
 * Index order and names, said once for library, runner and tests
 * --------------------------------------------------------------
 * The global array is A[x][y][z], 0 <= x < nx and so on; its global index is (x * ny + y) * nz + z.
 * The process grid is RxC: R tasks in a row (first exchange of a forward transform), C tasks in a column.
 * Grid rank r = q * R + p has position p in row q:
 *     row q      the ranks with the same q; they hold the same block of x
 *     column p   the ranks with the same p; they hold the same block of z between and after the exchanges
 * Block j of n indices over m parts is n/m indices, one more in each of the first n%m blocks.
 *
 *                                                            memory, slowest to fastest
 *     pencil   whole axis   x block      y block      z block      natural     stride1
 *     Z        z            q of C       p of R       whole        x y z       x y z
 *     Y        y            q of C       whole        p of R       x y z       x z y
 *     X        x            whole        q of C       p of R       x y z       z y x
 *
 * A forward transform takes Z pencils (PENCILFFT_INPUT) to X pencils (PENCILFFT_OUTPUT), a backward one X pencils to
 * Z pencils; none is turned back. Ask pencilfft_box_mine() where things are and pencilfft_format_of() of what they are.
 *
 * Types
 * -----
 *     type        forward takes      along z     y           x           and gives
 *     c2c         complex            DFT         DFT         DFT         complex
 *     r2c, c2r    real               DFT         DFT         DFT         complex, z of nz/2 + 1 (the rest follows)
 *     dct, dst    real               kinds[2]    kinds[1]    kinds[0]    real
 *     chebyshev   real               DFT         DFT         DCT-I       complex, z of nz/2 + 1
 *     empty       real               DFT         DFT         nothing     complex, z of nz/2 + 1
 * Complex DFTs are plain sums as in FFTW: forward has exp(-2 pi i ...), backward exp(+2 pi i ...). The backward real
 * transforms are the inverse kinds (II and III belong together). Nothing is normalised: backward after forward gives
 * pencilfft_scale() times the input, nx*ny*nz for the DFTs. r2c and c2r are two names of one.
 *
 * Errors
 * ------
 * Every function returns a pencilfft_status; pencilfft_error_message() tells what the last one that was not
 * PENCILFFT_OK meant. pencilfft_plan_create() fails on all ranks or on none, with the same message. A failure of MPI
 * itself (PENCILFFT_MPI_ERROR), and a failure of execute, are known on one rank only: call MPI_Abort then. Inside FFTW's
 * MPI library (exchange fftw) a failure of MPI ends the program.
 *
 * Threads
 * -------
 * With MPI_THREAD_MULTIPLE several threads may execute at once, each another plan. All else, plans and wisdom, is for one
 * thread at a time, for FFTW's planner is. */
#ifndef PENCILFFT_H
#define PENCILFFT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PENCILFFT_VERSION "0.1.0"

typedef enum {
    PENCILFFT_OK = 0,
    PENCILFFT_BAD_CALL,     /* a null pointer or communicator, MPI not running, buffers that overlap or are not aligned */
    PENCILFFT_BAD_SIZE,     /* extents below 1, or beyond what can be counted */
    PENCILFFT_BAD_GRID,     /* grid that does not match the communicator or the extents */
    PENCILFFT_UNKNOWN_NAME, /* exchange, rigor or sync that is not in its table */
    PENCILFFT_MISMATCH,     /* ranks gave different descriptors */
    PENCILFFT_TOO_LARGE,    /* a block with more elements than an MPI count holds */
    PENCILFFT_NO_MEMORY,
    PENCILFFT_FFTW_ERROR,
    PENCILFFT_MPI_ERROR,
    PENCILFFT_NOT_POSSIBLE  /* an exchange that cannot do it with these extents or with this MPI */
} pencilfft_status;

typedef enum { PENCILFFT_FORWARD = 1, PENCILFFT_BACKWARD = 2 } pencilfft_direction;
/* The pencils that are exchanged, all of the element that forward gives; and what a forward transform takes and gives
 * (and a backward one gives and takes). Output and X pencil are the same; input and Z pencil are, unless z is halved. */
typedef enum {
    PENCILFFT_Z_PENCIL,
    PENCILFFT_Y_PENCIL,
    PENCILFFT_X_PENCIL,
    PENCILFFT_INPUT,
    PENCILFFT_OUTPUT
} pencilfft_pencil;
typedef enum { PENCILFFT_ROW, PENCILFFT_COLUMN } pencilfft_exchange;

/* The timed parts of a transform, in forward order; a backward transform runs them from the last to the first.
 * Packing and unpacking are fused with the FFTs, block by block in the caches, and timed there; an axis that is not
 * divided needs neither. Where an exchange overlaps with the FFTs, its phase is the time besides them. */
typedef enum {
    PENCILFFT_FFT_Z,
    PENCILFFT_PACK_ROW,
    PENCILFFT_EXCHANGE_ROW,
    PENCILFFT_UNPACK_ROW,
    PENCILFFT_FFT_Y,
    PENCILFFT_PACK_COLUMN,
    PENCILFFT_EXCHANGE_COLUMN,
    PENCILFFT_UNPACK_COLUMN,
    PENCILFFT_FFT_X,
    PENCILFFT_TOTAL,
    PENCILFFT_WAIT_ROW,    /* what `sync` waited before an exchange; in no other phase, nor in the total */
    PENCILFFT_WAIT_COLUMN,
    PENCILFFT_N_PHASES
} pencilfft_phase;

/* Descriptor of a plan. Fill it with pencilfft_desc_init() first, then set what differs. */
typedef struct {
    int64_t nx, ny, nz;   /* extents; no default */
    int R, C;             /* process grid; no default; R * C is the size of the communicator */
    int directions;       /* PENCILFFT_FORWARD, PENCILFFT_BACKWARD or both (default) or-ed */
    const char *type;     /* "c2c" (default), "r2c" (or "c2r"), "dct", "dst", "chebyshev", "empty" */
    const char *kinds;    /* of dct and dst alone: of x,y,z, 1 to 4; c or s before one for (co)sine. NULL: "2,2,2" */
    const char *skip;     /* letters of axes that are left alone: "x", "yz"; NULL: none. Not z when z is halved */
    const char *precision; /* "double" (default), "single" */
    const char *layout;   /* "natural" (default), "stride1": the table above */
    const char *exchange; /* "alltoallv" (default), see pencilfft_exchange_name(); "auto" tries them */
    const char *rigor;    /* FFTW planning: "estimate", "measure" (default), "patient" */
    const char *sync;     /* before each exchange: "none" (default), "barrier", "clock" */
    double auto_budget_s; /* seconds that exchange "auto" may take to try the others; 10 by default */
    int fields;           /* arrays transformed together; each lies whole behind the one before it; 1 by default */
} pencilfft_desc;

/* A rank's part of the array in one pencil. Axis 0 is x, 1 is y, 2 is z.
 * Global element (x, y, z) is local element  sum over axes of (index - offset) * stride. */
typedef struct {
    int64_t offset[3], extent[3], stride[3];
} pencilfft_box;

/* What an array consists of. Field f begins field_stride elements behind field f - 1. */
typedef struct {
    size_t element_bytes, real_bytes;
    int is_complex;
    int fields;
    int64_t field_stride;
    int64_t n[3]; /* global extents */
} pencilfft_format;

typedef struct pencilfft_plan_s *pencilfft_plan;

void pencilfft_desc_init(pencilfft_desc *desc);
/* The same for languages that do not know the structure: a descriptor with its defaults (NULL: no memory), its members by
 * their names in it, and its end. Texts are not copied; they must last until the plan is made. Local. */
pencilfft_desc *pencilfft_desc_new(void);
int pencilfft_desc_set_integer(pencilfft_desc *desc, const char *member, int64_t value);
int pencilfft_desc_set_real(pencilfft_desc *desc, const char *member, double value);
int pencilfft_desc_set_text(pencilfft_desc *desc, const char *member, const char *value);
void pencilfft_desc_free(pencilfft_desc *desc);

/* Collective over comm, while MPI runs. The rank in comm is the grid rank; comm is duplicated. */
int pencilfft_plan_create(const pencilfft_desc *desc, MPI_Comm comm, pencilfft_plan *plan);
/* Collective, before MPI_Finalize. Frees the plan and every buffer of pencilfft_alloc(); a null plan is nothing to do. */
int pencilfft_plan_destroy(pencilfft_plan plan);

/* Box of one rank in one pencil; of the calling rank for pencilfft_box_mine(). Local. */
int pencilfft_box_of(pencilfft_plan plan, pencilfft_pencil pencil, int rank, pencilfft_box *box);
int pencilfft_box_mine(pencilfft_plan plan, pencilfft_pencil pencil, pencilfft_box *box);
int pencilfft_format_of(pencilfft_plan plan, pencilfft_pencil pencil, pencilfft_format *format);
/* Backward after forward gives this times the input. */
int pencilfft_scale(pencilfft_plan plan, double *scale);
/* What a buffer given to execute or transpose must hold: all fields of the largest pencil, or more where the exchange
 * pads. In elements of what forward gives, or in bytes. */
int pencilfft_alloc_elements(pencilfft_plan plan, int64_t *elements);
int pencilfft_alloc_bytes(pencilfft_plan plan, int64_t *bytes);
/* An aligned buffer of that size. It belongs to the plan and ends with it. Local. */
int pencilfft_alloc(pencilfft_plan plan, void **buffer);

/* Transform in to out. They may be the same buffer; else they must not overlap, and in is kept. Buffers not of
 * pencilfft_alloc() must be aligned to 16 bytes. Collective. */
int pencilfft_execute(pencilfft_plan plan, pencilfft_direction direction, const void *in, void *out);
int pencilfft_forward(pencilfft_plan plan, const void *in, void *out);
int pencilfft_backward(pencilfft_plan plan, const void *in, void *out);
/* One exchange alone, without any FFT: Z to Y (row) or Y to X (column) pencils, the other way for backward.
 * in may be used as scratch and is lost. Collective. */
int pencilfft_transpose(pencilfft_plan plan, pencilfft_exchange exchange, pencilfft_direction direction, void *in,
                        void *out);

/* Seconds this rank spent in each phase of the last execute. Waiting asked for by `sync` has its own. */
int pencilfft_phase_seconds(pencilfft_plan plan, double seconds[PENCILFFT_N_PHASES]);
const char *pencilfft_phase_name(int phase); /* "fft_z" ...; NULL outside the list */

/* What this rank sends to each rank in one exchange: bytes[rank] and messages[rank], as many as ranks. What it keeps is
 * not counted. Either may be NULL. Local. */
int pencilfft_traffic(pencilfft_plan plan, pencilfft_exchange exchange, pencilfft_direction direction, int64_t *bytes,
                      int64_t *messages);
/* The algorithm that moves data in this exchange: what was asked for, or what "auto" took. NULL for a null plan. */
const char *pencilfft_exchange_chosen(pencilfft_plan plan, pencilfft_exchange exchange);
/* Seconds a transform took with the i-th exchange (pencilfft_exchange_name) in this place when "auto" tried it, forward
 * and backward together where the plan has both: 0 when it did not, infinity when that exchange refused. The column's
 * candidates are tried beside what the row took, and the row's beside the first exchange that goes. */
int pencilfft_auto_seconds(pencilfft_plan plan, pencilfft_exchange exchange, int i, double *seconds);
/* By which calls of MPI, where that depends on the MPI; NULL when there is nothing to say. */
const char *pencilfft_exchange_means(pencilfft_plan plan, pencilfft_exchange exchange);

/* Wisdom: what FFTW learnt and what "auto" chose. load adds what a file knows, save writes all that is known in place of
 * the file, or leaves it as it is. A missing file is no failure of load and sets *found to 0. A file that another kind of
 * machine or another MPI wrote, or that is no such file, is refused. Rank 0 of comm reads or writes. Collective. */
int pencilfft_wisdom_load(const char *path, MPI_Comm comm, int *found);
int pencilfft_wisdom_save(const char *path, MPI_Comm comm);
void pencilfft_wisdom_forget(void); /* all of it, FFTW's too. Local */

/* The i-th known name, NULL after the last. */
const char *pencilfft_exchange_name(int i);
const char *pencilfft_type_name(int i);
const char *pencilfft_precision_name(int i);
const char *pencilfft_layout_name(int i);
const char *pencilfft_rigor_name(int i);
const char *pencilfft_sync_name(int i);

/* What the last failed call of this thread meant; valid until its next failed call. */
const char *pencilfft_error_message(void);

#ifdef __cplusplus
}
#endif
#endif
