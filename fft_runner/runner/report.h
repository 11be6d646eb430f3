/* What a run says: the table for the reader, the record for programs. On rank 0 of the grid. */
#ifndef RUNNER_REPORT_H
#define RUNNER_REPORT_H

#include <stdio.h>

#include "measure.h"
#include "options.h"
#include "seating.h"

struct report {
    int argc;
    char **argv;
    const struct options *options;
    const struct seating *seating;
    const struct verification *verification; /* NULL: not asked for */
    const struct samples *samples;
};

void report_table(const struct report *report, FILE *file);

/* Open what --json names; -1 with a message when it cannot be written to. */
int record_open(const char *path);
/* Append the record in one write. A status. */
int record_append(const struct report *report, int descriptor);

/* Versions of what the runner is linked with. */
enum { VERSION_SIZE = 64 };
void fftw_version_text(char text[VERSION_SIZE]);
void mpi_library_text(char *text, size_t size);

#endif
