/* The output of a run: a table for people, a record for programs. On rank 0 of the grid. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "halo_run.h"
#include "measure.h"
#include "options.h"
#include "processes.h"
#include "traffic.h"
#include "warnings.h"

struct report {
    int argc;
    char **argv;
    const struct options *options;
    const struct processes *processes;
    const struct verification *verification; /* NULL: not requested */
    const struct samples *samples;
    const struct halo_run *halo;
    const struct traffic *traffic;
    const struct warnings *warnings;
    pencilfft_plan plan;
    bool wisdom_found;
};

void report_table(const struct report *report, FILE *file);

/* Parts of the table. */
void report_placement(const struct report *report, FILE *file);
void report_verification(const struct report *report, FILE *file);
void report_warnings(const struct warnings *warnings, FILE *file);
/* Points of the input along x, y and z. */
void points_of(pencilfft_plan plan, int64_t points[3]);
/* Phases of the table and of the record: all up to the total, and the waiting if there was a sync. */
bool phase_is_shown(const struct report *report, int phase);

/* Words of the table and of the record for the source of the placement, the source of the coordinates, and their check. */
const char *placed_by(const struct seating *seating);
const char *coordinates_from(const struct seating *seating);
const char *self_check_of(const struct seating *seating);

/* Parts of the record. */
json_t *record_time(void);
json_t *record_command(const struct report *report);
json_t *record_labels(const struct options *options);
json_t *record_verified(const struct verification *verification);
json_t *record_placement(const struct report *report);
json_t *record_mpi(void);
json_t *record_hosts(const struct processes *processes);
json_t *record_warned(const struct warnings *warnings);
json_t *record_details(const struct report *report);
json_t *record_times(const struct samples *samples, int phase);
json_t *record_ranks(const struct samples *samples, int phase);

/* Append the record in a single write. A status. */
int record_append(const struct report *report, int descriptor);

/* Versions of the libraries that the runner is linked with. */
enum { VERSION_SIZE = 64 };
void fftw_version_text(char text[VERSION_SIZE]);
void mpi_library_text(char *text, size_t size);
