/* A plain program of FFTW's MPI library: transforms of 64^3 points there and back, and their largest error. */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

enum { N = 64, TIMES = 4 };

static double value(ptrdiff_t i)
{
    return sin(0.37 * (double)(i % 1009));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    ptrdiff_t planes, first, points = fftw_mpi_local_size_3d(N, N, N, MPI_COMM_WORLD, &planes, &first);
    fftw_complex *data = fftw_alloc_complex((size_t)points);
    fftw_plan there = fftw_mpi_plan_dft_3d(N, N, N, data, data, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_plan back = fftw_mpi_plan_dft_3d(N, N, N, data, data, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
    for (ptrdiff_t i = 0; i < planes * N * N; i++) {
        data[i][0] = value(first * N * N + i);
        data[i][1] = 0;
    }
    for (int k = 0; k < TIMES; k++) {
        fftw_execute(there);
        fftw_execute(back);
        for (ptrdiff_t i = 0; i < planes * N * N; i++)
            data[i][0] /= (double)N * N * N, data[i][1] /= (double)N * N * N;
    }
    double error = 0, largest;
    int rank;
    for (ptrdiff_t i = 0; i < planes * N * N; i++)
        error = fmax(error, hypot(data[i][0] - value(first * N * N + i), data[i][1]));
    MPI_Reduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("result: the largest error is %s\n", largest < 1e-12 ? "below 1e-12" : "LARGE");
    fftw_destroy_plan(there);
    fftw_destroy_plan(back);
    fftw_free(data);
    MPI_Finalize();
    return largest < 1e-12 || rank ? 0 : 1;
}
