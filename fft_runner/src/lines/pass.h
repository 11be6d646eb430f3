/* A pass over a rank's part of the array: one or two axes transformed while the data are in the caches. */
#pragma once

#include <stdbool.h>

#include "lines/line_fft.h"
#include "speed/clock.h"

/* Places of data during a transform: the arrays of the caller, work buffers of the plan, memory of an exchange. Work buffer
 * i is PF_WORK + i, the memory of exchange e PF_MEMORY + e. PF_ROOM is the output if it is long enough for messages, else a
 * buffer of the plan. PF_SPARE and PF_KEPT depend on the caller's arrays, too, see buffers.c. */
enum { PF_WORKS = 4 };
enum {
    PF_IN,
    PF_OUT,
    PF_ROOM,
    PF_SPARE,
    PF_KEPT,
    PF_WORK,
    PF_MEMORY = PF_WORK + PF_WORKS,
    PF_BUFFERS = PF_MEMORY + PF_MAX_EXCHANGES
};

/* A box of some fields in a buffer; strides of the box and these members count elements. */
struct pf_piece {
    int buffer;
    pencilfft_box box;
    int first, fields;    /* numbers of its fields: first to first + fields - 1 */
    int64_t start, field; /* start of the first field, distance of fields */
};

/* Input or output of a pass: pieces that together are its box. */
struct pf_side {
    int n;
    struct pf_piece *piece;
    size_t element_bytes, stored_bytes; /* in the caches, and in the pieces */
    int copied; /* phase of copies between pieces and cache; -1: phase of the transform */
};

struct pf_pass {
    pencilfft_box box;  /* extents as in the output of a forward transform */
    int64_t points[3];  /* extents as in its input */
    int outer, inner;   /* the axis across planes, and the axis within a plane other than the rows' axis */
    int along;          /* the axis of the rows: z, if z is transformed */
    bool backward;      /* z comes last */
    bool z, u;          /* transform z, transform the inner axis */
    struct pf_lines z_lines, u_lines;
    int fields; /* of in and out; a range selects fields */
    bool near_fields; /* interleaved on a side: the fields of a block come one after the other */
    int threads; /* that share the pass, 1 or more */
    struct pf_side in, out;
    struct {
        int64_t group, u_chunk, along_chunk;          /* planes, rows and elements of a row that make a block */
        int64_t z_row, u_row, u_column, plane_row;    /* bytes from row to row in chunks and plane, see pass.c */
        bool read_direct, write_direct;               /* lines read or written directly in a side's memory */
        bool in_turned, out_turned; /* lines along the inner axis lie one after the other in the input or output block */
        bool in_across, out_across; /* neighbours in the input or output array belong to other planes */
        bool from_memory, to_memory; /* input or output is not in the near caches: prefetch its rows */
        bool past_caches; /* the output is far larger than the caches */
        int64_t share; /* bytes from the blocks of a thread to those of the next */
        char *memory, *chunk[2], *plane; /* of the first thread */
    } block;
};

/* Part of a pass: a range of the outer axis and along the rows, counted from the box's start, and of fields. */
struct pf_range {
    int64_t outer, outer_end, along, along_end;
    int field, field_end;
};

struct pf_pass_run {
    char *buffer[PF_BUFFERS];
    struct pf_clock *clock;
    double factor; /* of the results; 0 and 1: none */
    bool planning; /* only make FFTW's plans for all blocks */
    int (*progress)(void *of); /* the calling thread calls this after each block of its planes; may be NULL */
    void *of;
};

/* box, axes, lines and sides are set: choose blocks, allocate, make FFTW's plans (buffers are overwritten). The pass will be
 * run by these ranges, which together are all of the pass. */
int pf_pass_plan(struct pf_pass *pass, char *const buffer[PF_BUFFERS], const struct pf_range *range, int ranges);
/* Whether lines have modes that are not kept as they are. */
static inline bool pf_lines_drop(const struct pf_lines *lines)
{
    return lines->kept.skipped || lines->kept.shared;
}

/* All of a pass. */
struct pf_range pf_pass_all(const struct pf_pass *pass);
/* The clock counts for the calling thread; its waits for other threads go to the phase of the output. */
int pf_pass_run(struct pf_pass *pass, struct pf_pass_run *run, const struct pf_range *range);
/* Multiplies elements of so many bytes, each of one or two real numbers, with strides in elements. */
void pf_multiply(const int64_t n[3], const int64_t stride[3], char *data, size_t bytes, size_t real_bytes, double factor);
void pf_pass_release(struct pf_pass *pass);
