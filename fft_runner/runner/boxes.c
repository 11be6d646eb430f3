#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/whole_file.h"
#include "runner.h"

enum { NUMBERS = 6, LINE_SIZE = 256 };

static int read_lines(FILE *file, const char *path, const char *option, int ranks, int64_t *values)
{
    char text[LINE_SIZE];
    int line = 0, rank = 0;
    while (fgets(text, sizeof text, file)) {
        int64_t one[NUMBERS];
        int found = text_integers(text, one, NUMBERS);
        line++;
        if (found == 0)
            continue;
        if (found != NUMBERS)
            return pf_fail(PF_REFUSED,
                           "--%s: %.200s line %d is not understood; write x y z of the first element and three "
                           "extents",
                           option, path, line);
        if (rank < ranks)
            memcpy(values + (size_t)rank * NUMBERS, one, sizeof one);
        rank++;
    }
    if (ferror(file))
        return pf_fail(PF_REFUSED, "--%s: %.200s cannot be read: %s", option, path, strerror(errno));
    return rank == ranks ? 0
                         : pf_fail(PF_REFUSED, "--%s: %.200s has boxes of %d ranks, and there are %d; write a line for each",
                                   option, path, rank, ranks);
}

int boxes_read(const char *path, const char *option, MPI_Comm grid, pencilfft_box *mine)
{
    int rank, ranks, status = 0;
    int64_t *values = NULL;
    CHECK_MPI(MPI_Comm_rank(grid, &rank));
    CHECK_MPI(MPI_Comm_size(grid, &ranks));
    if (rank == 0) {
        char begin[64];
        snprintf(begin, sizeof begin, "--%s: ", option);
        FILE *file = text_file_open(path, begin);
        if (!file)
            status = PF_REFUSED;
        else if (!(values = calloc(NUMBERS * (size_t)ranks, sizeof *values)))
            status = pf_fail(PF_REFUSED, "no memory for the boxes of %d ranks", ranks);
        else
            status = read_lines(file, path, option, ranks, values);
        if (file)
            fclose(file);
    }
    if (!(status = pf_agree(status, grid))) {
        int64_t one[NUMBERS];
        CHECK_MPI(MPI_Scatter(values, NUMBERS, MPI_INT64_T, one, NUMBERS, MPI_INT64_T, 0, grid));
        *mine = (pencilfft_box){.offset = {one[0], one[1], one[2]}, .extent = {one[3], one[4], one[5]}};
    }
    free(values);
    return status;
}
