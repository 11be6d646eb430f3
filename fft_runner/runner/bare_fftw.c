/* FFTW's transpose of a distributed matrix of doubles, by the fastest of its algorithms.
 * Idea:  two layouts of the same messages. Linear: the matrix has a row and a column for each rank, and its elements are
 *        whole messages, as for MPI_Alltoall. Matrix: each rank has several rows of single doubles, so that FFTW also sorts
 *        the elements of its messages.
 * Source: R. Schulz, 3D FFT with 2D decomposition (2008), section 5: no difference between the two layouts. */
#include "bare_exchange.h"
#include "runner.h"

#ifdef PENCILFFT_HAVE_FFTW_MPI

#include <fftw3-mpi.h>

struct matrix {
    MPI_Comm group;
    int ranks, rank;
    ptrdiff_t rows, columns, each; /* of a rank before, of a rank after, and doubles of an element */
    double *in, *out;
    fftw_plan plan;
};

/* Messages of so many doubles: about as many rows as columns. */
static void shape(struct matrix *m, bool linear, ptrdiff_t doubles)
{
    m->rows = m->columns = 1;
    m->each = linear ? doubles : 1;
    for (ptrdiff_t rows = 1; !linear && rows * rows <= doubles; rows++)
        if (doubles % rows == 0)
            m->rows = rows;
    if (!linear)
        m->columns = doubles / m->rows;
}

static int make(struct matrix *m)
{
    ptrdiff_t n0 = m->ranks * m->rows, n1 = m->ranks * m->columns, doubles = m->rows * n1 * m->each;
    fftw_mpi_init();
    m->in = fftw_malloc((size_t)doubles * sizeof *m->in);
    m->out = fftw_malloc((size_t)doubles * sizeof *m->out);
    int status = pf_agree(m->in && m->out ? 0 : pf_fail(PF_REFUSED, "no memory for two matrices"), m->group);
    if (status)
        return status;
    m->plan = fftw_mpi_plan_many_transpose(n0, n1, m->each, m->rows, m->columns, m->in, m->out, m->group, FFTW_MEASURE);
    return m->plan ? 0 : pf_fail(PF_REFUSED, "FFTW made no plan for a transpose of %td x %td", n0, n1);
}

/* The value of an element of the whole matrix. */
static double mark(const struct matrix *m, ptrdiff_t row, ptrdiff_t column, ptrdiff_t k)
{
    return (double)((row * m->ranks * m->columns + column) * m->each + k);
}

static void fill(const struct matrix *m)
{
    double *at = m->in;
    for (ptrdiff_t i = m->rank * m->rows; i < (m->rank + 1) * m->rows; i++)
        for (ptrdiff_t j = 0; j < m->ranks * m->columns; j++)
            for (ptrdiff_t k = 0; k < m->each; k++)
                *at++ = mark(m, i, j, k);
}

static int check(const struct matrix *m)
{
    const double *at = m->out;
    for (ptrdiff_t j = m->rank * m->columns; j < (m->rank + 1) * m->columns; j++)
        for (ptrdiff_t i = 0; i < m->ranks * m->rows; i++)
            for (ptrdiff_t k = 0; k < m->each; k++)
                if (*at++ != mark(m, i, j, k))
                    return pf_fail(PF_REFUSED, "FFTW's transpose delivered a wrong number for row %td, column %td", i, j);
    return 0;
}

static int exchange(const void *matrix)
{
    fftw_execute(((const struct matrix *)matrix)->plan);
    return 0;
}

static int once(const void *matrix, double *seconds)
{
    return bare_once(((const struct matrix *)matrix)->group, exchange, matrix, seconds);
}

int bare_fftw_run(const struct bare_case *b, bool linear, struct samples *s)
{
    struct matrix m = {.group = b->group, .ranks = b->ranks};
    if (!b->bytes || b->bytes % (long long)sizeof(double))
        return pf_fail(PF_REFUSED, "FFTW transposes doubles: messages of %lld bytes are not a multiple of 8 from 8 on",
                       b->bytes);
    PF_MPI(MPI_Comm_rank(b->group, &m.rank));
    shape(&m, linear, (ptrdiff_t)(b->bytes / (long long)sizeof(double)));
    int status = pf_agree(make(&m), b->group);
    if (!status) {
        fill(&m);
        status = samples_take(s, b->warmup, once, &m);
    }
    if (!status)
        status = check(&m);
    if (m.plan)
        fftw_destroy_plan(m.plan);
    fftw_free(m.in);
    fftw_free(m.out);
    return status == PENCILFFT_MPI_ERROR ? status : pf_agree(status, b->group);
}

#else

int bare_fftw_run(const struct bare_case *b, bool linear, struct samples *s)
{
    (void)b, (void)linear, (void)s;
    return pf_fail(PF_REFUSED, "FFTW's transposes need its MPI library built for this MPI");
}

#endif
