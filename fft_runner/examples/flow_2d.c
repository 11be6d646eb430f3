/* The velocity of a flow of two dimensions from its vorticity: laplace(psi) = -w, (u, v) = (d psi/dy, -d psi/dx), on
 * [0, 2 pi)^2. The spectra are halved along x, u and v are interleaved, and both plans share work memory of the program.
 *     mpirun -n 4 flow_2d_c */
#include <complex.h>
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>

static const int n[2] = {96, 80};

static void need(int status)
{
    if (status)
        fprintf(stderr, "flow_2d: %s\n", pencilfft_error_message());
    if (status)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The stream function is sin(2x) cos(3y). */
static double exact(const pencilfft_walk *w, int component)
{
    double x = 4 * acos(-1.0) * (double)w->index[0] / n[0], y = 6 * acos(-1.0) * (double)w->index[1] / n[1];
    return component == 0 ? -3 * sin(x) * sin(y) : component == 1 ? -2 * cos(x) * cos(y) : 13 * sin(x) * cos(y);
}

int main(int argc, char **argv)
{
    pencilfft_desc desc;
    pencilfft_plan scalar, vector;
    pencilfft_walk w;
    double *vorticity, *velocity, error = 0;
    double complex *w_hat, *v_hat;
    int64_t bytes, more, spectrum = 0;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pencilfft_desc_init(&desc);
    desc.nx = n[0], desc.ny = n[1], desc.type = "r2c";
    desc.order = "xy"; /* two dimensions; x first: whole in A[x][y], and halved */
    desc.caller_work = 1;
    need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &scalar));
    desc.fields = 2, desc.interleaved = 1; /* A[x][y][component] */
    need(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &vector));
    need(pencilfft_work_bytes(scalar, 0, &bytes));
    need(pencilfft_work_bytes(vector, 0, &more));
    bytes = more > bytes ? more : bytes;
    void *work = malloc((size_t)bytes + 16), *aligned = (char *)work + (16 - (size_t)work % 16) % 16;
    need(pencilfft_set_work(scalar, aligned, bytes));
    need(pencilfft_set_work(vector, aligned, bytes));
    need(pencilfft_alloc(scalar, (void **)&vorticity));
    need(pencilfft_alloc(scalar, (void **)&w_hat));
    need(pencilfft_alloc(vector, (void **)&velocity));
    need(pencilfft_alloc(vector, (void **)&v_hat));
    need(pencilfft_set_norm(vector, PENCILFFT_BACKWARD, PENCILFFT_NORM_N));

    for (need(pencilfft_walk_begin(scalar, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        vorticity[w.at] = exact(&w, 2);
    need(pencilfft_forward(scalar, vorticity, w_hat));
    for (need(pencilfft_walk_begin(scalar, PENCILFFT_OUTPUT, &w)); pencilfft_walk_next(&w); spectrum++) {
        double k2 = w.waves[0] * w.waves[0] + w.waves[1] * w.waves[1];
        double complex psi = k2 > 0 ? w_hat[w.at] / k2 : 0;
        v_hat[2 * w.at] = I * w.waves[1] * psi;
        v_hat[2 * w.at + 1] = -I * w.waves[0] * psi;
    }
    need(pencilfft_backward(vector, v_hat, velocity));
    for (need(pencilfft_walk_begin(vector, PENCILFFT_INPUT, &w)); pencilfft_walk_next(&w);)
        error = fmax(error, fabs(velocity[w.at] - exact(&w, w.field)));

    need(pencilfft_plan_destroy(scalar));
    need(pencilfft_plan_destroy(vector));
    free(work);
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &spectrum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("flow_2d_c: 96x80, %lld modes, largest error %.1e\n", (long long)spectrum, error);
    MPI_Finalize();
    return error < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
