/* Plans at random and their actions, a checksum each: all answers of a plan, its calls of FFTW, its messages.
 *
 *     mpirun -n 4 known_plans_test FIRST LAST     plans of these numbers: ranks, number, checksum
 *     mpirun -n 4 known_plans_test NUMBER         the full text behind the checksum of a plan, rank by rank
 *
 * Idea:  FFTW estimates and no exchange or schedule is tried, so the clock decides nothing. Half of the plans are
 *        transforms, drawn as in fuzz_test, but with some of the grids chosen by the library; the others are halos, lines,
 *        bricks of lines. Other tests check the results of transforms: the last bits depend on the processor.
 * Needs: nothing; but an MPI with large counts, or without persistent all-to-alls, gets other calls. */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check_mpi.h"
#include "checksum.h"
#include "recorded_calls.h"
#include "speed/tuning.h"
#include "told.h"

static void tell(int64_t number)
{
    switch (number % 8) {
    case 1:
    case 5: tell_halo(number); break;
    case 3: tell_line(number); break;
    case 7: tell_brick_lines(number); break;
    default: tell_transform(number);
    }
}

/* Printed by the first rank, one text after the other, because a launcher mixes the output of several ranks. */
static void print_texts(const char *text, int n)
{
    if (told_check.rank) {
        CHECK_MPI(MPI_Send(text, n, MPI_CHAR, 0, 0, told_check.grid));
        return;
    }
    printf("---- rank 0\n%s", text);
    for (int rank = 1; rank < told_check.ranks; rank++) {
        MPI_Status about;
        CHECK_MPI(MPI_Probe(rank, 0, told_check.grid, &about));
        CHECK_MPI(MPI_Get_count(&about, MPI_CHAR, &n));
        char *other = told_array(n);
        CHECK_MPI(MPI_Recv(other, n, MPI_CHAR, rank, 0, told_check.grid, &about));
        printf("---- rank %d\n%.*s", rank, n, other);
        free(other);
    }
}

/* Of the texts of all ranks, on the first. */
static void print_checksum(int64_t number, const char *text, size_t n)
{
    uint64_t mine = checksum_of(text, n), all[TOLD_RANKS];
    CHECK_MPI(MPI_Gather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, told_check.grid));
    if (told_check.rank == 0)
        printf("%d %lld %016llx\n", told_check.ranks, (long long)number,
               (unsigned long long)checksum_of((const char *)all, (size_t)told_check.ranks * sizeof *all));
}

/* The first words of the MPI's version: other MPIs get other calls. */
static void print_mpi(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    CHECK_MPI(MPI_Get_library_version(version, &length));
    printf("%.*s\n", (int)strcspn(version, ",\n"), version);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    pf_tuning.block_bytes = 1 << 17; /* the same with any processor's caches */
    plan_check_begin(&told_check);
    if (argc < 2 || told_check.ranks > TOLD_RANKS)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    if (told_check.rank == 0 && argc > 2)
        print_mpi();
    int64_t first = atoll(argv[1]), last = atoll(argv[argc - 1]);
    for (int64_t number = first; number <= last; number++) {
        char *text = NULL;
        size_t n = 0;
        CHECK_MPI((told = open_memstream(&text, &n)) ? MPI_SUCCESS : MPI_ERR_NO_MEM);
        recorded_calls_begin(told);
        tell(number);
        recorded_calls_end();
        fclose(told);
        if (argc == 2)
            print_texts(text, (int)n);
        else
            print_checksum(number, text, n);
        free(text);
    }
    MPI_Comm_free(&told_check.grid);
    MPI_Finalize();
    return 0;
}
