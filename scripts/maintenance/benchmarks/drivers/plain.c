/* The plain way, which needs no library but FFTW: one plan for the lines of each axis, in place where that is possible, copies into
 * messages and MPI_Alltoallv. 2DECOMP&FFT works like this. x over C ranks and y over R before, y over C and z over R after. */
#include <fftw3.h>
#include <stdlib.h>

#include "peer.h"

struct split { /* of an axis over the ranks of a communicator; the last ones have one more */
    int ranks, mine, *start, *length;
};
struct exchange {
    MPI_Comm comm;
    int *send, *send_at, *receive, *receive_at; /* of each rank, in elements */
};

static int real_input;
static struct split x, y_before, y_after, z;
static int nx, ny, nz;
static struct exchange rows, columns; /* of y and z over R, of x and y over C */
static fftw_plan along_z, along_y, along_x;
static double *real;
static fftw_complex *first, *second, *message, *last; /* [x][y before][z], [x][y][z mine], [x][y after][z mine] */

static size_t product(int a, int b, int c)
{
    return (size_t)a * (size_t)b * (size_t)c;
}

static struct split split_over(int n, MPI_Comm comm)
{
    struct split s;
    MPI_Comm_size(comm, &s.ranks);
    MPI_Comm_rank(comm, &s.mine);
    s.start = malloc(2 * sizeof(int) * (size_t)s.ranks), s.length = s.start + s.ranks;
    for (int i = 0, at = 0; i < s.ranks; at += s.length[i++])
        s.start[i] = at, s.length[i] = n / s.ranks + (i >= s.ranks - n % s.ranks);
    return s;
}

static int mine(const struct split *s)
{
    return s->length[s->mine];
}

/* Each rank sends its part of `from`, cut as `to` is, and `others` elements for each place in both. */
static struct exchange exchange_between(const struct split *from, const struct split *to, int others, MPI_Comm comm)
{
    struct exchange e = {.comm = comm, .send = malloc(4 * sizeof(int) * (size_t)from->ranks)};
    e.send_at = e.send + from->ranks, e.receive = e.send_at + from->ranks, e.receive_at = e.receive + from->ranks;
    for (int i = 0; i < from->ranks; i++) {
        e.send[i] = mine(from) * to->length[i] * others, e.receive[i] = from->length[i] * mine(to) * others;
        e.send_at[i] = i ? e.send_at[i - 1] + e.send[i - 1] : 0,
        e.receive_at[i] = i ? e.receive_at[i - 1] + e.receive[i - 1] : 0;
    }
    return e;
}

static void run(const struct exchange *e, fftw_complex *from, fftw_complex *to)
{
    MPI_Alltoallv(from, e->send, e->send_at, MPI_C_DOUBLE_COMPLEX, to, e->receive, e->receive_at, MPI_C_DOUBLE_COMPLEX,
                  e->comm);
}

/* Columns of n numbers that lie `stride` apart, and beside each other. */
static fftw_plan columns_plan(int n, int stride, fftw_complex *data)
{
    return fftw_plan_many_dft(1, &n, stride, data, &n, stride, 1, data, &n, stride, 1, FFTW_FORWARD, FFTW_MEASURE);
}

int peer_make(const int n[3], const int grid[2], const char *type, int fortran_comm, struct peer_array *in,
              struct peer_array *out)
{
    MPI_Comm comm = MPI_Comm_f2c(fortran_comm), of_row, of_column;
    int rank, real_nz = n[2], whole[1] = {n[2]};
    real_input = !strcmp(type, "r2c");
    if (!real_input && strcmp(type, "c2c"))
        return 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split(comm, rank / grid[0], rank, &of_row);
    MPI_Comm_split(comm, rank % grid[0], rank, &of_column);
    nx = n[0], ny = n[1], nz = real_input ? real_nz / 2 + 1 : real_nz;
    x = split_over(nx, of_column), y_before = split_over(ny, of_row), y_after = split_over(ny, of_column);
    z = split_over(nz, of_row);
    rows = exchange_between(&y_before, &z, mine(&x), of_row);
    columns = exchange_between(&x, &y_after, mine(&z), of_column);

    size_t before = product(mine(&x), mine(&y_before), nz), between = product(mine(&x), ny, mine(&z));
    size_t after = product(nx, mine(&y_after), mine(&z)), most = before > between ? before : between;
    first = fftw_alloc_complex(most), second = y_before.ranks > 1 ? fftw_alloc_complex(between) : first;
    last = fftw_alloc_complex(after), message = fftw_alloc_complex(most > after ? most : after);
    real = real_input ? fftw_alloc_real(product(mine(&x), mine(&y_before), real_nz)) : NULL;
    int lines = mine(&x) * mine(&y_before);
    along_z = real_input
                  ? fftw_plan_many_dft_r2c(1, whole, lines, real, NULL, 1, real_nz, first, NULL, 1, nz, FFTW_MEASURE)
                  : fftw_plan_many_dft(1, whole, lines, first, NULL, 1, nz, first, NULL, 1, nz, FFTW_FORWARD, FFTW_MEASURE);
    along_y = columns_plan(ny, mine(&z), second);
    along_x = columns_plan(nx, mine(&y_after) * mine(&z), last);
    if ((lines && !along_z) || (mine(&z) && !along_y) || (mine(&y_after) && mine(&z) && !along_x))
        return 1;

    struct peer_array input = {real_input ? (void *)real : first,
                               {x.start[x.mine], y_before.start[y_before.mine], 0},
                               {mine(&x), mine(&y_before), real_nz},
                               {0}};
    struct peer_array output = {last,
                                {0, y_after.start[y_after.mine], z.start[z.mine]},
                                {nx, mine(&y_after), mine(&z)},
                                {0}};
    *in = input, *out = output;
    peer_natural(in), peer_natural(out);
    return 0;
}

/* Lines along z, cut over the ranks of a row, become lines along y: two copies and a message. */
static void from_z_to_y(void)
{
    fftw_complex *at = message;
    for (int i = 0; i < z.ranks; i++)
        for (int line = 0; line < mine(&x) * mine(&y_before); line++, at += z.length[i])
            memcpy(at, first + (size_t)line * (size_t)nz + z.start[i], sizeof *at * (size_t)z.length[i]);
    run(&rows, message, first);
    at = first;
    for (int i = 0; i < y_before.ranks; i++)
        for (int plane = 0; plane < mine(&x); plane++) {
            size_t length = (size_t)y_before.length[i] * (size_t)mine(&z);
            memcpy(second + product(plane, ny, mine(&z)) + product(y_before.start[i], mine(&z), 1), at, sizeof *at * length);
            at += length;
        }
}

/* What is received from each rank are whole planes of the output. */
static void from_y_to_x(void)
{
    fftw_complex *at = message;
    for (int i = 0; i < y_after.ranks; i++)
        for (int plane = 0; plane < mine(&x); plane++) {
            size_t length = (size_t)y_after.length[i] * (size_t)mine(&z);
            memcpy(at, second + product(plane, ny, mine(&z)) + product(y_after.start[i], mine(&z), 1), sizeof *at * length);
            at += length;
        }
    run(&columns, message, last);
}

void peer_run(void)
{
    if (along_z)
        fftw_execute(along_z);
    if (y_before.ranks > 1)
        from_z_to_y();
    for (int plane = 0; plane < mine(&x) && along_y; plane++) {
        fftw_complex *data = second + product(plane, ny, mine(&z));
        fftw_execute_dft(along_y, data, data);
    }
    from_y_to_x();
    if (along_x)
        fftw_execute(along_x);
}
