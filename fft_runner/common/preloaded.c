/* Idea:  a process without the library never learns of it, so the others wait for it in a barrier, and end the job if it
 *        does not come. Ranks leave MPI_Init together; a job of several programs, in which the library may be missing, waits
 *        less than others.
 *        The libraries of both MPIs have functions of the same names, so each library of MPI in the process is asked for its
 *        version, whatever comes first in the order of symbols. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): for RTLD_NEXT */
#endif
#include "preloaded.h"

#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

#ifdef OPEN_MPI
static const char built_for[] = "Open MPI";
#else
static const char built_for[] = "MPICH";
#endif
enum { PATIENCE_S = 20, SEVERAL_PROGRAMS_S = 8 };
static const struct timespec between_tests = {.tv_nsec = 1000000}, until_the_speaker_ends = {.tv_sec = 3};

void preloaded_refuse(const char *name, const char *text, ...)
{
    char reason[1400];
    int started = 0, ended = 0;
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(reason, sizeof reason, text, arguments);
    va_end(arguments);
    fprintf(stderr, "pencilmap %s: refused: %s\n", name, reason);
    await_launcher();
    PMPI_Initialized(&started);
    PMPI_Finalized(&ended);
    if (started && !ended)
        PMPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    _exit(EXIT_FAILURE);
}

void *preloaded_next(const char *name, const char *function)
{
    void *found = dlsym(RTLD_NEXT, function);
    if (!found) {
        fprintf(stderr,
                "pencilmap %s: refused: the MPI library of this program has no %s; use the libpencilmap_%s.so that "
                "was built for this MPI\n",
                name, function, name);
        await_launcher();
        _exit(EXIT_FAILURE);
    }
    return found;
}

/* ---- the MPI of the program ---------------------------------------------------------------------------------------- */

/* Whether a loaded library is of another MPI, whose name is kept. */
static bool is_other(const char *path, char other[32])
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 8192] = ""; /* the constant of the other MPI is another one */
    int (*get_version)(char *, int *), length;
    const char *slash = strrchr(path, '/');
    if (strncmp(slash ? slash + 1 : path, "libmpi", 6) != 0)
        return false;
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return false;
    *(void **)&get_version = dlsym(library, "MPI_Get_library_version");
    bool known = get_version && !get_version(version, &length), is_open_mpi = !strncmp(version, "Open MPI", 8);
    snprintf(other, 32, "%.*s", is_open_mpi ? 8 : (int)strcspn(version, " :\n"), version);
    dlclose(library);
    return known && is_open_mpi != !strcmp(built_for, "Open MPI");
}

/* The launcher's number of this process, before MPI_Init; 0 if it is not known. */
static long launched_as(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return strtol(getenv(names[i]), NULL, 10);
    return 0;
}

void preloaded_check_mpi(const char *name)
{
    char other[32];
    const struct link_map *library = _r_debug.r_map;
    while (library && !is_other(library->l_name, other))
        library = library->l_next;
    if (!library)
        return;
    if (launched_as() > 0) {
        nanosleep(&until_the_speaker_ends, NULL);
        _exit(EXIT_FAILURE);
    }
    preloaded_refuse(name,
                     "this libpencilmap_%s.so is built for %s, but the program uses %s; build it with the compiler of the "
                     "program's MPI: cmake -S fft_runner -B build -DMPI_C_COMPILER=mpicc",
                     name, built_for, other);
}

/* ---- all ranks ------------------------------------------------------------------------------------------------------- */

/* How long to wait; lower ranks speak first, and one line is enough. */
static double patience(int rank, int ranks)
{
    int *program, known = 0;
    const char *programs = getenv("OMPI_NUM_APP_CTX");
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &known);
    bool several = (programs && strtol(programs, NULL, 10) > 1) || (known && *program > 0);
    return (several ? SEVERAL_PROGRAMS_S : PATIENCE_S) + 2.0 * rank / ranks;
}

void preloaded_check_ranks(const char *name)
{
    MPI_Request arrival;
    int rank, ranks, all = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double start = PMPI_Wtime(), limit = patience(rank, ranks);
    PMPI_Ibarrier(MPI_COMM_WORLD, &arrival);
    while (PMPI_Test(&arrival, &all, MPI_STATUS_IGNORE) == MPI_SUCCESS && !all) {
        if (PMPI_Wtime() - start > limit)
            preloaded_refuse(name,
                             "rank %d of %d has loaded libpencilmap_%s.so, but not every rank has; give LD_PRELOAD to each "
                             "program of the launch line, with Open MPI by -x behind every colon, or to none",
                             rank, ranks, name);
        nanosleep(&between_tests, NULL);
    }
}
