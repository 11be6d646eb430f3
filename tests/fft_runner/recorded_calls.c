/* Stands before MPI by its profiling interface (MPI 4.0, section 15.2), and before FFTW by the linker (--wrap). The started
 * calls are a sum of checksums, because the order may depend on arrivals; calls that only wait or ask are not recorded. */
#include "recorded_calls.h"

#include <fftw3.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

#include "checksum.h"

static FILE *told;
static uint64_t started;
static long calls;
static atomic_long lines; /* threads transform lines */

void recorded_calls_begin(FILE *out)
{
    told = out;
    started = 0;
    calls = 0;
    lines = 0;
}

void recorded_calls_end(void)
{
    told = NULL;
}

void recorded_calls_tell(const char *what)
{
    fprintf(told, "%s: %ld calls %016llx, FFTW ran %ld times\n", what, calls, (unsigned long long)started, (long)lines);
    recorded_calls_begin(told);
}

/* ---- messages --------------------------------------------------------------------------------------------------- */

static int64_t bytes_of(int n, MPI_Datatype type)
{
    int bytes = 0;
    PMPI_Type_size(type, &bytes);
    return (int64_t)n * bytes;
}

static int size_of(MPI_Comm comm)
{
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

static void record(const char *function, MPI_Comm comm, int64_t bytes, int partner, int tag)
{
    char text[128];
    int used = snprintf(text, sizeof text, "%s %d %lld %d %d", function, comm == MPI_COMM_NULL ? 0 : size_of(comm),
                        (long long)bytes, partner, tag);
    started += checksum_of(text, (size_t)used);
    calls++;
}

/* Of every partner, in a single call; a type for all, or a type for each. */
static void record_each(const char *function, MPI_Comm comm, const int n[], const MPI_Datatype type[], int types)
{
    for (int i = 0; i < size_of(comm); i++)
        record(function, comm, bytes_of(n[i], type[types * i]), i, 0);
}

#define DEFINE(name, its_name, comm, note, parameters, arguments) \
    int name parameters                                           \
    {                                                             \
        if (told) {                                               \
            note;                                                 \
        }                                                         \
        return its_name arguments;                                \
    }
#define NO_NOTE
#define ONE(n, type, partner, tag) record(__func__, comm, bytes_of(n, type), partner, tag)
#define EACH(n, type, types) record_each(__func__, comm, n, type, types)
#define EVEN(n, type) record(__func__, comm, bytes_of(n, type), 0, 0)
#define FAR(n, type, partner) record(__func__, MPI_COMM_NULL, bytes_of(n, type), partner, 0)
#define ANY(n) record(__func__, MPI_COMM_NULL, n, 0, 0)
#include "mpi_calls.h"

/* ---- FFTW ----------------------------------------------------------------------------------------------------- */

static void tell_shape(const char *name, int rank, const fftw_iodim64 *line, int many_rank, const fftw_iodim64 *many,
                       const void *in, const void *out, unsigned flags)
{
    if (!told)
        return;
    fprintf(told, "FFTW %s %x%s", name, flags, in == out ? " in place" : "");
    for (int i = 0; i < rank + many_rank; i++) {
        const fftw_iodim64 *dim = i < rank ? &line[i] : &many[i - rank];
        fprintf(told, "%s%lld:%lld:%lld", i == rank ? " x " : " ", (long long)dim->n, (long long)dim->is,
                (long long)dim->os);
    }
    fputc('\n', told);
}

#define SHAPE_PARAMETERS int rank, const fftw_iodim64 *line, int many_rank, const fftw_iodim64 *many
#define SHAPE_ARGUMENTS rank, line, many_rank, many
#define PLANNER(made, function, parameters, arguments)                      \
    made __real_##function parameters;                                      \
    made __wrap_##function parameters;                                      \
    made __wrap_##function parameters                                       \
    {                                                                       \
        tell_shape(#function, rank, line, many_rank, many, in, out, flags); \
        return __real_##function arguments;                                 \
    }
#define EXECUTOR(function, parameters, arguments) \
    void __real_##function parameters;            \
    void __wrap_##function parameters;            \
    void __wrap_##function parameters             \
    {                                             \
        lines++;                                  \
        __real_##function arguments;              \
    }
#define PRECISION(f, real)                                                                                       \
    PLANNER(f##_plan, f##_plan_guru64_dft,                                                                       \
            (SHAPE_PARAMETERS, f##_complex * in, f##_complex * out, int sign, unsigned flags),                   \
            (SHAPE_ARGUMENTS, in, out, sign, flags))                                                             \
    PLANNER(f##_plan, f##_plan_guru64_dft_r2c, (SHAPE_PARAMETERS, real * in, f##_complex * out, unsigned flags), \
            (SHAPE_ARGUMENTS, in, out, flags))                                                                   \
    PLANNER(f##_plan, f##_plan_guru64_dft_c2r, (SHAPE_PARAMETERS, f##_complex * in, real * out, unsigned flags), \
            (SHAPE_ARGUMENTS, in, out, flags))                                                                   \
    PLANNER(f##_plan, f##_plan_guru64_r2r,                                                                       \
            (SHAPE_PARAMETERS, real * in, real * out, const fftw_r2r_kind *kind, unsigned flags),                \
            (SHAPE_ARGUMENTS, in, out, kind, flags))                                                             \
    EXECUTOR(f##_execute_dft, (const f##_plan plan, f##_complex *in, f##_complex *out), (plan, in, out))         \
    EXECUTOR(f##_execute_dft_r2c, (const f##_plan plan, real *in, f##_complex *out), (plan, in, out))            \
    EXECUTOR(f##_execute_dft_c2r, (const f##_plan plan, f##_complex *in, real *out), (plan, in, out))            \
    EXECUTOR(f##_execute_r2r, (const f##_plan plan, real *in, real *out), (plan, in, out))
PRECISION(fftw, double)
PRECISION(fftwf, float)
