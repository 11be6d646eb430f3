// Solve laplace(u) = f on the periodic cube [0, 2 pi)^3 with real-complex transforms, and check u.
//     mpirun -n 4 poisson_cpp
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <pencilfft.hpp>

static const int n[3] = {48, 40, 36};

// u, or laplace(u), at an element.
static double wave(const pencilfft_walk &w, bool laplacian)
{
    double at[3];
    for (int axis = 0; axis < 3; axis++)
        at[axis] = 2 * std::acos(-1.0) * static_cast<double>(w.index[axis]) / n[axis];
    return (laplacian ? -14 : 1) * std::sin(at[0]) * std::cos(2 * at[1]) * std::sin(3 * at[2]) +
           (laplacian ? -17 : 1) * std::cos(4 * at[0]) * std::sin(at[1]);
}

static double solve()
{
    pencilfft::description wanted(n[0], n[1], n[2]);
    wanted.type = "r2c";
    pencilfft::plan plan(wanted, MPI_COMM_WORLD);
    auto f = plan.make<double>(pencilfft::input);
    auto f_hat = plan.make<std::complex<double>>(pencilfft::output);
    for (const auto &w : plan.elements(pencilfft::input))
        f[w.at] = wave(w, true);

    plan.forward(f, f_hat);
    for (const auto &w : plan.elements(pencilfft::output)) {
        double square = w.waves[0] * w.waves[0] + w.waves[1] * w.waves[1] + w.waves[2] * w.waves[2];
        f_hat[w.at] *= square > 0 ? -1 / (square * plan.scale()) : 0;
    }
    plan.backward(f_hat, f);

    double error = 0;
    for (const auto &w : plan.elements(pencilfft::input))
        error = std::max(error, std::abs(f[w.at] - wave(w, false)));
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return error;
}

int main(int argc, char **argv)
{
    int rank, status = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        double error = solve(); // its plan ends before MPI
        status = error > 1e-13;
        if (rank == 0)
            std::printf("poisson_cpp: 48x40x36, largest error %.1e\n", error);
    } catch (const pencilfft::error &wrong) {
        std::fprintf(stderr, "poisson_cpp: %s\n", wrong.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return status;
}
