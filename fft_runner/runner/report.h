/* The output of a run: a table for people, a record for programs. On rank 0 of the grid. */
#pragma once

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "measure.h"
#include "options.h"
#include "processes.h"

/* Warnings about conditions that make times meaningless. */
enum { MAX_WARNINGS = 4, WARNING_SIZE = 512 };

struct warnings {
    int n;
    char text[MAX_WARNINGS][WARNING_SIZE];
};

/* From the table of all processes; at most a warning of each kind, with the first case and the number of cases. Fails only
 * without memory. */
int warnings_find(const struct process *processes, int n, struct warnings *warnings);

/* Traffic of each rank: totals per rank for the record, and the byte matrix as a file for mapping tools. */

/* On rank 0 of the grid, [exchange * ranks + rank]; a rank's own part is not counted. Free `bytes`. */
struct traffic {
    int ranks, exchanges;
    int64_t *bytes, *messages;
};
/* Bytes and messages of this rank to each rank in an exchange. */
typedef int (*sender)(const void *what, int exchange, int64_t *bytes, int64_t *messages);

/* Both are collective, and fail on all or none; of a plan, in the order of moves_of(). */
int traffic_collect(int exchanges, sender of, const void *what, MPI_Comm comm, struct traffic *traffic);
int traffic_gather(const struct problem *problem, struct traffic *traffic);
/* Of all ranks in an exchange. */
void traffic_sum(const struct traffic *traffic, int exchange, long long *bytes, long long *messages);

/* "FILE", or "row=FILE" with the name of an exchange: all exchanges of a transform, or only this exchange. A name that ends
 * in .grf gives a Scotch graph (undirected; edge load: bytes in both directions); any other gives P lines of P numbers, line
 * i for the bytes from rank i, the format of TreeMatch and TopoMatch. Collective; fails on all or none. */
int traffic_write_matrix(const struct problem *problem, const char *request);

/* The halo of an array, timed by itself. */
struct halo_run {
    int width;                 /* planes on every side; 0: no halo requested */
    bool verified;             /* every element was exact */
    struct samples samples;    /* of a phase */
    struct traffic traffic;
};

/* Times halo exchanges of the input of a forward transform. Collective, fails on all or none; always release the results. */
int halo_run(const struct problem *problem, const struct options *options, struct halo_run *halo);
void halo_run_release(struct halo_run *halo);

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
/* Times of phases; those without a name are not shown. Names have at least so many columns. */
void report_phases(const struct samples *samples, const char *const *names, int width, FILE *file);
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
json_t *record_verified(const struct verification *verification);
json_t *record_placement(const struct report *report);
json_t *record_mpi(void);
json_t *record_hosts(const struct processes *processes);
json_t *record_warned(const struct warnings *warnings);
json_t *record_times(const struct samples *samples, int phase);

/* The members of all parts, which are released; NULL if memory is short. */
json_t *record_joined(json_t **parts, size_t n);
/* Append the record in a single write. A status. */
int record_append(const struct report *report, int descriptor);

/* Versions of the libraries that the runner is linked with. */
enum { VERSION_SIZE = 64 };
void fftw_version_text(char text[VERSION_SIZE]);
void mpi_library_text(char *text, size_t size);
