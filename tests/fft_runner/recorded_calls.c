/* Stands before MPI by its profiling interface (MPI 4.0, section 15.2), and before FFTW by the linker (--wrap). The started
 * calls are a sum of checksums, because the order may depend on arrivals; calls that only wait or ask are not recorded. */
#include "recorded_calls.h"

#include <fftw3.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

#include "checksum.h"
#ifdef PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT
#include <mpi-ext.h>
#endif

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
    if (!told)
        return;
    int used = snprintf(text, sizeof text, "%s %d %lld %d %d", function, comm == MPI_COMM_NULL ? 0 : size_of(comm),
                        (long long)bytes, partner, tag);
    started += checksum_of(text, (size_t)used);
    calls++;
}

/* Of every partner, in a single call; a type for all, or a type for each. */
static void record_all(const char *function, MPI_Comm comm, const int n[], const MPI_Datatype type[], int types)
{
    for (int i = 0; told && i < size_of(comm); i++)
        record(function, comm, bytes_of(n[i], type[types == 1 ? 0 : i]), i, 0);
}

#define MESSAGE_PARAMETERS const void *data, int n, MPI_Datatype type, int partner, int tag, MPI_Comm comm
#define RECEIVE_PARAMETERS void *data, int n, MPI_Datatype type, int partner, int tag, MPI_Comm comm
#define MESSAGE(function, parameters, arguments)                             \
    int MPI_##function parameters                                            \
    {                                                                        \
        record(#function, comm, told ? bytes_of(n, type) : 0, partner, tag); \
        return PMPI_##function arguments;                                    \
    }

MESSAGE(Send, (MESSAGE_PARAMETERS), (data, n, type, partner, tag, comm))
MESSAGE(Recv, (RECEIVE_PARAMETERS, MPI_Status *about), (data, n, type, partner, tag, comm, about))
MESSAGE(Isend, (MESSAGE_PARAMETERS, MPI_Request *request), (data, n, type, partner, tag, comm, request))
MESSAGE(Irecv, (RECEIVE_PARAMETERS, MPI_Request *request), (data, n, type, partner, tag, comm, request))
MESSAGE(Send_init, (MESSAGE_PARAMETERS, MPI_Request *request), (data, n, type, partner, tag, comm, request))
MESSAGE(Recv_init, (RECEIVE_PARAMETERS, MPI_Request *request), (data, n, type, partner, tag, comm, request))

int MPI_Sendrecv(const void *from, int n, MPI_Datatype type, int target, int tag, void *to, int m, MPI_Datatype other,
                 int source, int its_tag, MPI_Comm comm, MPI_Status *about)
{
    record("Sendrecv", comm, told ? bytes_of(n, type) : 0, target, tag);
    record("Sendrecv from", comm, told ? bytes_of(m, other) : 0, source, its_tag);
    return PMPI_Sendrecv(from, n, type, target, tag, to, m, other, source, its_tag, comm, about);
}

int MPI_Startall(int n, MPI_Request requests[])
{
    record("Startall", MPI_COMM_NULL, n, 0, 0);
    return PMPI_Startall(n, requests);
}

int MPI_Put(const void *data, int n, MPI_Datatype type, int target, MPI_Aint at, int n_at, MPI_Datatype type_at, MPI_Win window)
{
    record("Put", MPI_COMM_NULL, told ? bytes_of(n, type) : 0, target, 0);
    return PMPI_Put(data, n, type, target, at, n_at, type_at, window);
}

int MPI_Win_fence(int assert, MPI_Win window)
{
    record("Win_fence", MPI_COMM_NULL, assert, 0, 0);
    return PMPI_Win_fence(assert, window);
}

/* ---- collectives -------------------------------------------------------------------------------------------- */

int MPI_Barrier(MPI_Comm comm)
{
    record("Barrier", comm, 0, 0, 0);
    return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    record("Ibarrier", comm, 0, 0, 0);
    return PMPI_Ibarrier(comm, request);
}

#define ALLTOALL_PARAMETERS const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype other, MPI_Comm comm
#define ALLTOALL_ARGUMENTS from, n, type, to, m, other, comm
#define ALLTOALLV_PARAMETERS                                                                                        \
    const void *from, const int n[], const int at[], MPI_Datatype type, void *to, const int m[], const int there[], \
        MPI_Datatype other, MPI_Comm comm
#define ALLTOALLV_ARGUMENTS from, n, at, type, to, m, there, other, comm
#define ALLTOALLW_PARAMETERS                                                                                                \
    const void *from, const int n[], const int at[], const MPI_Datatype type[], void *to, const int m[], const int there[], \
        const MPI_Datatype other[], MPI_Comm comm
#define COLLECTIVE(function, parameters, arguments, n, type, types) \
    int MPI_##function parameters                                   \
    {                                                               \
        record_all(#function, comm, n, type, types);                \
        return PMPI_##function arguments;                           \
    }

int MPI_Alltoall(ALLTOALL_PARAMETERS)
{
    record("Alltoall", comm, told ? bytes_of(n, type) : 0, 0, 0);
    return PMPI_Alltoall(ALLTOALL_ARGUMENTS);
}

int MPI_Ialltoall(ALLTOALL_PARAMETERS, MPI_Request *request)
{
    record("Ialltoall", comm, told ? bytes_of(n, type) : 0, 0, 0);
    return PMPI_Ialltoall(ALLTOALL_ARGUMENTS, request);
}

COLLECTIVE(Alltoallv, (ALLTOALLV_PARAMETERS), (ALLTOALLV_ARGUMENTS), n, &type, 1)
COLLECTIVE(Ialltoallv, (ALLTOALLV_PARAMETERS, MPI_Request *request), (ALLTOALLV_ARGUMENTS, request), n, &type, 1)
COLLECTIVE(Alltoallw, (ALLTOALLW_PARAMETERS), (ALLTOALLV_ARGUMENTS), n, type, 2)
COLLECTIVE(Ialltoallw, (ALLTOALLW_PARAMETERS, MPI_Request *request), (ALLTOALLV_ARGUMENTS, request), n, type, 2)

#ifdef PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT
int MPIX_Alltoallv_init(ALLTOALLV_PARAMETERS, MPI_Info info, MPI_Request *request)
{
    record_all("Alltoallv_init", comm, n, &type, 1);
    return PMPIX_Alltoallv_init(ALLTOALLV_ARGUMENTS, info, request);
}
#endif

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

static void ran(void)
{
    lines++;
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
        ran();                                    \
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
