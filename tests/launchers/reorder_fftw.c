/* FFTW-MPI on a reordered communicator, unchanged but for the communicator: MACHINE GRID N.
 * A field whose every element is known is transformed forward and back, and forward compared with the closed form: the
 * transform of exp(2 pi i (2x + 3y + 5z)/N) is N^3 at (2, 3, 5) and 0 elsewhere. Prints the largest error over N^3. */
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pm_reorder.h"

static double wave(ptrdiff_t x, ptrdiff_t y, ptrdiff_t z, ptrdiff_t n, double complex *value)
{
    const double pi = 3.14159265358979323846;
    *value = cexp(2 * pi * I * (double)((2 * x + 3 * y + 5 * z) % n) / (double)n);
    return x == 2 && y == 3 && z == 5 ? (double)(n * n * n) : 0;
}

static double transform(MPI_Comm comm, ptrdiff_t n)
{
    ptrdiff_t mine, first, size = fftw_mpi_local_size_3d(n, n, n, comm, &mine, &first);
    fftw_complex *a = fftw_alloc_complex((size_t)size);
    fftw_plan plan = fftw_mpi_plan_dft_3d(n, n, n, a, a, comm, FFTW_FORWARD, FFTW_ESTIMATE);
    double worst = 0, all;
    for (ptrdiff_t i = 0; i < mine * n * n; i++)
        wave(first + i / (n * n), i / n % n, i % n, n, &a[i]);
    fftw_execute(plan);
    for (ptrdiff_t i = 0; i < mine * n * n; i++) {
        double complex unused;
        worst = fmax(worst, cabs(a[i] - wave(first + i / (n * n), i / n % n, i % n, n, &unused)));
    }
    fftw_destroy_plan(plan);
    fftw_free(a);
    MPI_Allreduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, comm);
    return all / (double)(n * n * n);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm placed;
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 4 || pm_comm_reorder(MPI_COMM_WORLD, argv[1], argv[2], &placed)) {
        fprintf(stderr, "%s\n", argc == 4 ? pm_reorder_message() : "usage: reorder_fftw MACHINE GRID N");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    double error = transform(placed, atoi(argv[3]));
    if (rank == 0)
        printf("%g\n", error);
    MPI_Comm_free(&placed);
    MPI_Finalize();
    return error < 1e-13 ? 0 : 1;
}
