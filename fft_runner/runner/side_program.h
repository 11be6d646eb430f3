/* Beginning and end of the programs beside fft_runner: options, numbers in them, MPI, and a file of records. */
#pragma once

#include <getopt.h>
#include <mpi.h>
#include <stddef.h>

enum { MAX_LIST = 32 };

struct side_program {
    const char *name;
    int (*run)(void *of, int rank, int ranks, int argc,
               char **argv); /* in MPI_COMM_WORLD; a status, the same on all ranks */
    void (*release)(void *of); /* in any case but after a failure of MPI */
    void *of;
};

/* From MPI_Init to MPI_Finalize, with one message for a failure. Returns the exit status. */
int side_program_main(const struct side_program *program, int argc, char **argv);

/* Gives every option's letter to `take`, with its text in optarg. A status. */
int side_program_options(int argc, char **argv, const struct option *options, int (*take)(void *settings, int code),
                         void *settings);
/* Integers of an option, separated by commas, or a single integer. */
int take_numbers(const char *name, char *text, long long least, long long most, long long values[MAX_LIST], int *n);
int take_one(const char *name, char *text, long long least, long long most, long long *value);

/* The file to which rank 0 appends records; *json stays unchanged on other ranks and without a path. Collective. */
int side_program_open(const char *path, int rank, MPI_Comm comm, int *json);
void side_program_close(int json);
/* The first line of MPI's own version. A status. */
int mpi_library_line(char line[MPI_MAX_LIBRARY_VERSION_STRING + 1]);
