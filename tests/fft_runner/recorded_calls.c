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

#define CALL(function, note, parameters, arguments) \
    int MPI_##function parameters                   \
    {                                               \
        note;                                       \
        return PMPI_##function arguments;           \
    }
#define BYTES(n, type) (told ? bytes_of(n, type) : 0)
#define NONE MPI_COMM_NULL

#define SENT const void *data, int n, MPI_Datatype type, int partner, int tag, MPI_Comm comm
#define RECEIVED void *data, int n, MPI_Datatype type, int partner, int tag, MPI_Comm comm
#define MESSAGE(function, parameters, arguments) \
    CALL(function, record(#function, comm, BYTES(n, type), partner, tag), parameters, arguments)
MESSAGE(Send, (SENT), (data, n, type, partner, tag, comm))
MESSAGE(Recv, (RECEIVED, MPI_Status *about), (data, n, type, partner, tag, comm, about))
MESSAGE(Isend, (SENT, MPI_Request *request), (data, n, type, partner, tag, comm, request))
MESSAGE(Irecv, (RECEIVED, MPI_Request *request), (data, n, type, partner, tag, comm, request))
MESSAGE(Send_init, (SENT, MPI_Request *request), (data, n, type, partner, tag, comm, request))
MESSAGE(Recv_init, (RECEIVED, MPI_Request *request), (data, n, type, partner, tag, comm, request))
CALL(Sendrecv, record("Sendrecv", comm, BYTES(n, type), target, tag);
     record("Sendrecv from", comm, BYTES(m, other), source, its_tag),
     (const void *from, int n, MPI_Datatype type, int target, int tag, void *to, int m, MPI_Datatype other, int source,
      int its_tag, MPI_Comm comm, MPI_Status *about),
     (from, n, type, target, tag, to, m, other, source, its_tag, comm, about))
CALL(Startall, record("Startall", NONE, n, 0, 0), (int n, MPI_Request requests[]), (n, requests))
CALL(Put, record("Put", NONE, BYTES(n, type), target, 0),
     (const void *data, int n, MPI_Datatype type, int target, MPI_Aint at, int n_at, MPI_Datatype type_at, MPI_Win window),
     (data, n, type, target, at, n_at, type_at, window))
CALL(Win_fence, record("Win_fence", NONE, assert, 0, 0), (int assert, MPI_Win window), (assert, window))

/* ---- collectives -------------------------------------------------------------------------------------------- */

#define ALL const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype other, MPI_Comm comm
#define ALLV                                                                                                        \
    const void *from, const int n[], const int at[], MPI_Datatype type, void *to, const int m[], const int there[], \
        MPI_Datatype other, MPI_Comm comm
#define ALLW                                                                                                                \
    const void *from, const int n[], const int at[], const MPI_Datatype type[], void *to, const int m[], const int there[], \
        const MPI_Datatype other[], MPI_Comm comm
#define GIVEN from, n, at, type, to, m, there, other, comm
CALL(Barrier, record("Barrier", comm, 0, 0, 0), (MPI_Comm comm), (comm))
CALL(Ibarrier, record("Ibarrier", comm, 0, 0, 0), (MPI_Comm comm, MPI_Request *request), (comm, request))
CALL(Alltoall, record("Alltoall", comm, BYTES(n, type), 0, 0), (ALL), (from, n, type, to, m, other, comm))
CALL(Ialltoall, record("Ialltoall", comm, BYTES(n, type), 0, 0), (ALL, MPI_Request *request),
     (from, n, type, to, m, other, comm, request))
CALL(Alltoallv, record_all("Alltoallv", comm, n, &type, 1), (ALLV), (GIVEN))
CALL(Ialltoallv, record_all("Ialltoallv", comm, n, &type, 1), (ALLV, MPI_Request *request), (GIVEN, request))
CALL(Alltoallw, record_all("Alltoallw", comm, n, type, 2), (ALLW), (GIVEN))
CALL(Ialltoallw, record_all("Ialltoallw", comm, n, type, 2), (ALLW, MPI_Request *request), (GIVEN, request))

#ifdef PENCILFFT_HAVE_MPIX_ALLTOALLV_INIT
int MPIX_Alltoallv_init(ALLV, MPI_Info info, MPI_Request *request)
{
    record_all("Alltoallv_init", comm, n, &type, 1);
    return PMPIX_Alltoallv_init(GIVEN, info, request);
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
