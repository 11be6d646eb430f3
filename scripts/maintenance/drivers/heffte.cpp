// heFFTe (https://github.com/icl-utk-edu/heffte) with FFTW: pencils of z before, pencils of x after.
#include <heffte.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "peer.h"

using backend = heffte::backend::fftw;
static heffte::fft3d<backend> *whole; // both are never deleted: that frees communicators, at exit after MPI's end
static heffte::fft3d_r2c<backend> *halved;
static std::vector<std::complex<double>> spectrum[2], room;
static std::vector<double> real;
static bool backward;

static int begin(int n, int i, int parts) // blocks as those of pencilfft.h: the first n % parts have one more
{
    return i * (n / parts) + std::min(i, n % parts);
}

static heffte::box3d<> pencil(const int n[3], int axis_x, int axis_z, int p, int q, int R, int C)
{
    int low[3] = {0, 0, 0}, high[3] = {n[0], n[1], n[2]}; // x over q of C or whole, and so on
    low[axis_x] = begin(n[axis_x], q, C), high[axis_x] = begin(n[axis_x], q + 1, C);
    low[axis_z] = begin(n[axis_z], p, R), high[axis_z] = begin(n[axis_z], p + 1, R);
    return heffte::box3d<>({low[2], low[1], low[0]},
                           {high[2] - 1, high[1] - 1, high[0] - 1}); // its first axis is the nearest
}

static void set(struct peer_array *a, heffte::box3d<> const &box, void *data)
{
    for (int i = 0; i < 3; i++)
        a->start[i] = box.low[2 - i], a->extent[i] = box.size[2 - i];
    a->data = data;
    peer_natural(a);
}

int peer_make(const int n[3], const int grid[2], const char *type, int fortran_comm, struct peer_array *in,
              struct peer_array *out)
{
    MPI_Comm comm = MPI_Comm_f2c(fortran_comm);
    bool complex = !strcmp(type, "c2c");
    int rank, R = grid[0], C = grid[1], kept[3] = {n[0], n[1], complex ? n[2] : n[2] / 2 + 1};
    backward = !strcmp(type, "c2r");
    if (!complex && !backward && strcmp(type, "r2c"))
        return 1;
    MPI_Comm_rank(comm, &rank);
    heffte::box3d<> first = pencil(n, 0, 1, rank % R, rank / R, R, C), last = pencil(kept, 1, 2, rank % R, rank / R, R, C);
    spectrum[1].resize(last.count());
    if (complex) {
        whole = new heffte::fft3d<backend>(first, last, comm);
        spectrum[0].resize(first.count());
        room.resize(whole->size_workspace());
        set(in, first, spectrum[0].data());
        set(out, last, spectrum[1].data());
        return 0;
    }
    halved = new heffte::fft3d_r2c<backend>(first, last, 0, comm);
    real.resize(first.count());
    room.resize(halved->size_workspace());
    set(backward ? out : in, first, real.data());
    set(backward ? in : out, last, spectrum[1].data());
    return 0;
}

void peer_run(void)
{
    if (whole)
        whole->forward(spectrum[0].data(), spectrum[1].data(), room.data());
    else if (backward)
        halved->backward(spectrum[1].data(), real.data(), room.data());
    else
        halved->forward(real.data(), spectrum[1].data(), room.data());
}
