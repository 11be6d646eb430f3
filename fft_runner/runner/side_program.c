#include "side_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json_values.h"
#include "pencilfft.h"
#include "runner.h"

/* ---- command line --------------------------------------------------------------------------------------------------- */

int take_numbers(const char *name, char *text, long long least, long long most, long long values[MAX_LIST], int *n)
{
    *n = 0;
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        char *end;
        errno = 0;
        long long value = strtoll(word, &end, 10);
        if (end == word || *end || errno || value < least || value > most)
            return pf_fail(PF_REFUSED, "--%s: '%.60s' is not an integer of %lld..%lld", name, word, least, most);
        if (*n == MAX_LIST)
            return pf_fail(PF_REFUSED, "--%s: more than %d numbers", name, MAX_LIST);
        values[(*n)++] = value;
    }
    return *n ? 0 : pf_fail(PF_REFUSED, "--%s: needs numbers, separated by commas", name);
}

int take_one(const char *name, char *text, long long least, long long most, long long *value)
{
    long long values[MAX_LIST];
    int n = 0, status = take_numbers(name, text, least, most, values, &n);
    if (!status && n != 1)
        status = pf_fail(PF_REFUSED, "--%s: one number", name);
    if (!status)
        *value = values[0];
    return status;
}

int side_program_options(int argc, char **argv, const struct option *options, int (*take)(void *settings, int code),
                         void *settings)
{
    int code, status = 0;
    opterr = 0;
    while (!status && (code = getopt_long(argc, argv, "", options, NULL)) != -1)
        status = take(settings, code);
    if (!status && optind < argc)
        status = pf_fail(PF_REFUSED, "'%.60s' does not belong to any option; see --help", argv[optind]);
    return status;
}

/* ---- records -------------------------------------------------------------------------------------------------------- */

int side_program_open(const char *path, int rank, MPI_Comm comm, int *json)
{
    int status = 0;
    if (path && rank == 0 && (*json = json_file_open(path)) < 0)
        status = PF_REFUSED;
    return pf_agree(status, comm);
}

void side_program_close(int json)
{
    if (json > STDOUT_FILENO)
        close(json);
}

int mpi_library_line(char line[MPI_MAX_LIBRARY_VERSION_STRING + 1])
{
    int length = 0;
    line[0] = '\0';
    PF_MPI(MPI_Get_library_version(line, &length));
    line[strcspn(line, "\n")] = '\0';
    return 0;
}

/* ---- MPI ------------------------------------------------------------------------------------------------------------ */

static int run_in_world(const struct side_program *program, int *rank, int argc, char **argv)
{
    int ranks;
    PF_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    PF_MPI(MPI_Comm_rank(MPI_COMM_WORLD, rank));
    PF_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    return program->run(program->of, *rank, ranks, argc, argv);
}

int side_program_main(const struct side_program *program, int argc, char **argv)
{
    int rank = 0;
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
        fprintf(stderr, "%s: MPI could not be started\n", program->name);
        return EXIT_FAILURE;
    }
    int status = run_in_world(program, &rank, argc, argv);
    if (status == PENCILFFT_MPI_ERROR || (status && rank == 0))
        fprintf(stderr, "%s: %s\n", program->name, pf_message());
    fflush(stderr);
    if (status == PENCILFFT_MPI_ERROR) {
        await_launcher();
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    program->release(program->of);
    MPI_Finalize();
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
