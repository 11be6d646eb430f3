/* A pass over a rank's part of the array: one or two axes transformed while the data are in the caches. */
#pragma once

#include <stdbool.h>

#include "geometry/decomposition.h"
#include "lines/line_fft.h"
#include "speed/clock.h"

/* Where data lie during a transform: the arrays of the caller, work buffers of the plan, memory of an exchange. Work
 * buffer i is PF_WORK + i, the memory of exchange e PF_MEMORY + e. PF_SPARE and PF_KEPT depend on the caller's arrays, see
 * buffers.c. */
enum { PF_WORKS = 4 };
enum {
    PF_IN,
    PF_OUT,
    PF_SPARE,
    PF_KEPT,
    PF_WORK,
    PF_MEMORY = PF_WORK + PF_WORKS,
    PF_BUFFERS = PF_MEMORY + PF_MAX_EXCHANGES
};

/* A box of some fields somewhere in a buffer; strides of the box and these count elements. */
struct pf_piece {
    int buffer;
    pencilfft_box box;
    int first, fields;    /* numbers of its fields: first to first + fields - 1 */
    int64_t start, field; /* where the first one begins, and from field to field */
};

/* Where a pass reads or writes: pieces that together are its box. */
struct pf_side {
    int n;
    struct pf_piece *piece;
    size_t element_bytes;
    int copied; /* phase of copying between pieces and cache; -1: that of the transform beside it */
};

struct pf_pass {
    pencilfft_box box;  /* extents along z: those of the output of a forward transform */
    int outer, inner;   /* the axis across planes, and the axis within a plane that is not that of the rows */
    int along;          /* the axis of the rows: z, where z is transformed */
    bool backward;      /* z comes last */
    bool z, u;          /* is z transformed, is the inner axis */
    struct pf_lines z_lines, u_lines;
    int64_t input_nz;   /* z extent on the side of the input of a forward transform */
    int fields; /* of in and out; a range says which of them are passed over */
    int threads; /* that share it, 1 or more */
    struct pf_side in, out;
    struct {
        int64_t group, u_chunk, along_chunk;          /* planes, rows and elements of a row that make a block */
        int64_t z_row, u_row, u_column, plane_row;    /* bytes from row to row in chunks and plane, see pass.c */
        bool read_direct, write_direct;               /* lines read or written directly in a side's memory */
        bool in_turned, out_turned; /* lines along the inner axis lie one after the other in the block read or written */
        bool in_across, out_across; /* neighbours in the array read or written are those of other planes */
        bool from_memory, to_memory; /* what is read or written is not in the near caches: its rows are asked for ahead */
        bool past_caches; /* what is written is far larger than the caches */
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
    bool planning; /* only make FFTW's plans for all blocks */
    int (*progress)(void *of); /* called by the calling thread after each block of its planes; NULL: nothing is */
    void *of;
};

/* box, axes, lines and sides are set: choose blocks, allocate, make FFTW's plans (buffers are overwritten). The pass will be
 * run by these ranges, which together are all of it. */
int pf_pass_plan(struct pf_pass *pass, char *const buffer[PF_BUFFERS], const struct pf_range *range, int ranges);
/* All of a pass. */
struct pf_range pf_pass_all(const struct pf_pass *pass);
/* The clock counts for the calling thread; what it waits for others goes to the phase of what is written. */
int pf_pass_run(struct pf_pass *pass, struct pf_pass_run *run, const struct pf_range *range);
void pf_pass_release(struct pf_pass *pass);
