/* Checks of the libraries that a program gets by LD_PRELOAD, before these change or count anything. The name of a library is
 * that of its file without libpencilmap_ and .so. */
#pragma once

/* Print "pencilmap NAME: refused: ..." and end the processes of the job, or this one before MPI_Init. */
_Noreturn void preloaded_refuse(const char *name, const char *text, ...) __attribute__((format(printf, 2, 3)));

/* Before MPI_Init: end the program in words if it uses another MPI than the one for which the library was built. */
void preloaded_check_mpi(const char *name);

/* Collective over MPI_COMM_WORLD, after MPI_Init: end the job in words if a process has not loaded the library. */
void preloaded_check_ranks(const char *name);

/* The function of that name behind the library, or an end in words if there is none. */
void *preloaded_next(const char *name, const char *function);

/* Both functions that start MPI, in a file with NEXT, `library`, `depth`, which counts calls of MPI inside each other, and
 * begun(), which gets the status and returns it. */
#define PRELOADED_STARTS(MPI)                                                   \
    int MPI##_Init(int *argc, char ***argv)                                     \
    {                                                                           \
        preloaded_check_mpi(library);                                           \
        NEXT(MPI##_Init);                                                       \
        depth++;                                                                \
        return begun(next(argc, argv));                                         \
    }                                                                           \
    int MPI##_Init_thread(int *argc, char ***argv, int required, int *provided) \
    {                                                                           \
        preloaded_check_mpi(library);                                           \
        NEXT(MPI##_Init_thread);                                                \
        depth++;                                                                \
        return begun(next(argc, argv, required, provided));                     \
    }
