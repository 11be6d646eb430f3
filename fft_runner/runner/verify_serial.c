/* The whole result against a serial three-dimensional FFTW on rank 0.
 * Idea: rank 0 makes the input again, transforms it in place, and compares the ranks' blocks piece by piece as they
 *       come, so that it never holds more than one array and one piece.
 * Cost: on rank 0 one array of N elements and a serial transform; every rank sends its block once. */
#include <complex.h> /* before fftw3.h, so that its complex is C's */
#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>

#include "check_mpi.h"
#include "runner.h"
#include "values.h"
#include "verify.h"

enum { PIECE = 1 << 16, TAG = 1 };

/* Above this many elements a serial transform takes longer than one wants to wait, and 2 GiB. */
static const int64_t serial_limit = (int64_t)1 << 27;

static bool make_reference(const struct problem *p, double complex **reference)
{
    int n[3] = {(int)p->n[0], (int)p->n[1], (int)p->n[2]};
    int64_t elements = p->n[0] * p->n[1] * p->n[2];
    int sign = p->direction == PENCILFFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD;
    if (!(*reference = fftw_malloc((size_t)elements * sizeof **reference)))
        return false;
    fftw_plan plan = fftw_plan_dft(3, n, *reference, *reference, sign, FFTW_ESTIMATE);
    if (!plan)
        return false;
    for (int64_t i = 0; i < elements; i++)
        (*reference)[i] = value_random(i);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return true;
}

/* Global index of a local element: undo the strides, slowest axis first. */
static int64_t global_index(const pencilfft_box *b, const int64_t n[3], const int order[3], int64_t local)
{
    int64_t at[3];
    for (int i = 0; i < 3; i++) {
        at[order[i]] = b->offset[order[i]] + local / b->stride[order[i]];
        local %= b->stride[order[i]];
    }
    return (at[0] * n[1] + at[1]) * n[2] + at[2];
}

/* Axes from slowest to fastest. Of two that share a stride one has extent 1 and must come last. */
static void memory_order(const pencilfft_box *b, int order[3])
{
    for (int i = 0; i < 3; i++) {
        int slower = 0;
        for (int j = 0; j < 3; j++)
            slower += b->stride[j] > b->stride[i] ||
                      (b->stride[j] == b->stride[i] && (b->extent[j] > b->extent[i] ||
                                                        (b->extent[j] == b->extent[i] && j < i)));
        order[slower] = i;
    }
}

struct comparison {
    const struct problem *p;
    const double complex *reference;
    double worst; /* largest |difference|; NaN once one is NaN */
};

static void compare_piece(struct comparison *c, const pencilfft_box *box, int64_t start, int n, const double complex *a)
{
    int order[3];
    memory_order(box, order);
    for (int i = 0; i < n; i++) {
        double difference = cabs(a[i] - c->reference[global_index(box, c->p->n, order, start + i)]);
        c->worst = worse_error(c->worst, difference);
    }
}

static int piece_length(int64_t elements, int64_t start)
{
    return (int)(elements - start < PIECE ? elements - start : PIECE);
}

static int64_t elements_of(const pencilfft_box *box)
{
    return box->extent[0] * box->extent[1] * box->extent[2];
}

static void send_block(const struct problem *p, const pencilfft_box *box)
{
    const double complex *out = p->out;
    for (int64_t at = 0; at < elements_of(box); at += PIECE)
        CHECK_MPI(MPI_Send(out + at, piece_length(elements_of(box), at), MPI_C_DOUBLE_COMPLEX, 0, TAG, p->grid));
}

static void compare_block(struct comparison *c, int rank, const pencilfft_box *box, double complex *piece)
{
    for (int64_t at = 0; at < elements_of(box); at += PIECE) {
        int n = piece_length(elements_of(box), at);
        const double complex *data = (const double complex *)c->p->out + at;
        if (rank > 0) {
            CHECK_MPI(MPI_Recv(piece, n, MPI_C_DOUBLE_COMPLEX, rank, TAG, c->p->grid, MPI_STATUS_IGNORE));
            data = piece;
        }
        compare_piece(c, box, at, n, data);
    }
}

static int compare_all(struct comparison *c, int ranks, double complex *piece)
{
    int status = 0;
    for (int rank = 0; rank < ranks && !status; rank++) {
        pencilfft_box box;
        if (!(status = pencilfft_box_of(c->p->plan, output_pencil(c->p), rank, &box)))
            compare_block(c, rank, &box, piece);
    }
    return status;
}

static bool too_large(const struct problem *p)
{
    return p->n[0] * p->n[1] * p->n[2] > serial_limit;
}

int verify_serial(const struct problem *p, double scale, struct verification *v)
{
    int rank, ranks, ready = 1, status = 0;
    struct comparison c = {.p = p};
    double complex *reference = NULL, *piece = NULL;
    pencilfft_box mine;
    CHECK_MPI(MPI_Comm_rank(p->grid, &rank));
    CHECK_MPI(MPI_Comm_size(p->grid, &ranks));
    if (too_large(p)) {
        snprintf(v->note, sizeof v->note, "serial FFTW not done: more than %lld elements", (long long)serial_limit);
        return 0;
    }
    if (rank == 0)
        ready = (piece = malloc(PIECE * sizeof *piece)) && make_reference(p, &reference);
    CHECK_MPI(MPI_Bcast(&ready, 1, MPI_INT, 0, p->grid));
    if (!ready)
        snprintf(v->note, sizeof v->note, "serial FFTW not done: no memory for the whole array on rank 0");
    else if (rank > 0 && !(status = pencilfft_box_mine(p->plan, output_pencil(p), &mine)))
        send_block(p, &mine);
    else if (rank == 0) {
        c.reference = reference;
        status = compare_all(&c, ranks, piece);
    }
    fftw_free(reference);
    free(piece);
    CHECK_MPI(MPI_Bcast(&c.worst, 1, MPI_DOUBLE, 0, p->grid));
    v->fftw_done = ready;
    v->error_fftw = c.worst / scale;
    return status;
}
