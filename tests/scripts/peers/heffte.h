// A stand-in for heFFTe 2: the classes that its headers declare, for any boxes, by FFTW on the whole array. Axis 0 of a box is
// the nearest; low and high are both inside.
#pragma once

#include <algorithm>
#include <array>
#include <complex>

#include "spread.h"

namespace heffte
{

namespace backend
{
struct fftw {
};
} // namespace backend

enum class scale { none, full, symmetric };

template <typename index = int> struct box3d {
    box3d(std::array<index, 3> clow, std::array<index, 3> chigh)
        : low(clow), high(chigh), size({high[0] - low[0] + 1, high[1] - low[1] + 1, high[2] - low[2] + 1})
    {
    }
    box3d(std::array<index, 2> clow, std::array<index, 2> chigh)
        : box3d(std::array<index, 3>{clow[0], clow[1], 0}, std::array<index, 3>{chigh[0], chigh[1], 0})
    {
    }
    long long count() const
    {
        return (long long)size[0] * size[1] * size[2];
    }
    std::array<index, 3> const low, high, size;
};

// What both classes share.
template <typename index> class planned
{
  public:
    planned(box3d<index> const inbox, box3d<index> const outbox, MPI_Comm const comm)
        : in_(box(inbox)), out_(box(outbox)), comm_(comm)
    {
        for (int i = 0; i < 3; i++)
            n_[i] = inbox.high[2 - i] + 1;
        MPI_Allreduce(MPI_IN_PLACE, n_, 3, MPI_INT, MPI_MAX, comm);
    }
    size_t size_workspace() const
    {
        return 1;
    }

  protected:
    void transform(const char *type, void const *input, void *output, bool back) const
    {
        spread_transform(n_, type, back ? &out_ : &in_, const_cast<void *>(input), back ? &in_ : &out_, output, comm_);
    }

  private:
    static spread box(box3d<index> const &b)
    {
        int start[3] = {b.low[2], b.low[1], b.low[0]}, extent[3] = {b.size[2], b.size[1], b.size[0]};
        return spread_natural(start, extent);
    }
    spread in_, out_;
    MPI_Comm comm_;
    int n_[3];
};

template <typename backend_tag, typename index = int> class fft3d : public planned<index>
{
  public:
    using planned<index>::planned;
    template <typename input_type, typename output_type>
    void forward(input_type const input[], output_type output[], output_type[], scale = scale::none) const
    {
        this->transform("c2c", input, output, false);
    }
};

template <typename backend_tag, typename index = int> class fft3d_r2c : public planned<index>
{
  public:
    fft3d_r2c(box3d<index> const inbox, box3d<index> const outbox, int r2c_direction, MPI_Comm const comm)
        : planned<index>(inbox, outbox, comm)
    {
        if (r2c_direction)
            abort();
    }
    template <typename input_type, typename output_type>
    void forward(input_type const input[], output_type output[], output_type[], scale = scale::none) const
    {
        this->transform("r2c", input, output, false);
    }
    template <typename input_type, typename output_type>
    void backward(input_type const input[], output_type output[], input_type[], scale = scale::none) const
    {
        this->transform("c2r", input, output, true);
    }
};

} // namespace heffte
