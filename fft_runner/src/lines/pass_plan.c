/* Planning a pass: its blocks, their memory, FFTW's plans, and the choice of lines that are read and written in place.
 * Idea:  a block is an eighth of the second-level cache. Rows in the block are padded to an odd number of cache lines,
 *        so that a column does not fall on few cache sets. Gathering a block costs a copy in the cache, which pays for large
 *        arrays and strides of powers of two only. If the pieces of a side are parts of one array (so messages are laid, see
 *        messages.c), FFTW may do without the copy. The clock decides, as with FFTW's own plans: the pass runs with each
 *        choice in turn, and the shortest time of each choice counts. FFTW takes as long to plan lines in place as all other
 *        choices together. So these lines are tried with an estimated plan, and planned as requested if that plan is the
 *        fastest. Arrays larger than the caches are copied into the block and out of it, except short rows of lines along z.
 *        FFTW is up to twice as fast if its output lines lie one after the other in the block, and these lines are then
 *        transposed by the copy; the clock decides with some groups of planes. With FFTW_ESTIMATE nothing is timed, only
 *        lines along z are read and written in place, and no lines are transposed.
 * Cost:  up to four plans per block instead of one, and four passes with each; two for large arrays, and some planes.
 * Needs: FFTW's arrays are multiples of 16 bytes from its plan's; other sides are gathered. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines/pass.h"
#include "speed/tuning.h"

enum { Z = 2 };

/* If neighbours in an array belong to other planes: lines of such neighbours in a block, and growth of the blocks. */
enum { ACROSS = 2, ROOM_ACROSS = 4 };

enum { FFTW_ALIGNMENT = 16 };

/* Bytes of a block if the second-level cache has 1 MiB, or less; least number of larger blocks in an array. */
enum { USUAL_BLOCK = 1 << 17, LEAST_BLOCKS = 32 };

/* The least row of a large array to copy into the block: the processor prefetches along a copy, but FFTW jumps and would
 * wait. c2c at 160^3 (2560 bytes) takes a tenth less, in single precision (1280) as long. */
enum { LONG_ROW = 2048 };

/* Number of trials of each choice; and the required ratio to copies for reading or writing in place, because a whole
 * transform fills the caches with other data and makes strides dearer than in a trial. */
enum { TRIALS = 3 };
static const double worth_it = 0.93;

/* Options of a pass; and groups of planes that are tried in turn, with a second-level cache between groups. */
enum { WAYS = 8, TURNS = 8 };

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

/* Bytes from row to row: whole cache lines, and an odd number of them. */
static int64_t padded_row(int64_t elements, size_t bytes)
{
    int64_t lines = (elements * (int64_t)bytes + PF_CACHE_LINE - 1) / PF_CACHE_LINE;
    return (lines + (lines % 2 == 0)) * PF_CACHE_LINE;
}

/* Whether the inner axis is nearer in this side's memory than the rows. */
static bool is_turned(const struct pf_pass *pass, const struct pf_side *side)
{
    for (int i = 0; i < side->n; i++) {
        const pencilfft_box *box = &side->piece[i].box;
        if (pf_box_elements(box))
            return box->stride[pass->inner] < box->stride[pass->along];
    }
    return false;
}

/* At most `group` planes, so that each thread gets as many groups. For a single thread at least half of the planes, because
 * a rest would be another shape for FFTW to plan: in place that takes as long as all other plans. */
static int64_t even_group(int64_t planes, int64_t group, int64_t threads)
{
    int64_t rounds = (planes + group * threads - 1) / (group * threads);
    if (threads > 1)
        return (planes + rounds * threads - 1) / (rounds * threads);
    for (int64_t fewer = group; 2 * fewer >= group; fewer--)
        if (planes % fewer == 0)
            return fewer;
    return group;
}

/* At most `most` of n, in whole units, so that all chunks are about equal. */
static int64_t even_chunk(int64_t n, int64_t most, int64_t unit)
{
    int64_t chunks = (n + most - 1) / most, even = (n + chunks - 1) / chunks;
    return pf_smaller(n, (even + unit - 1) / unit * unit);
}

/* Whether neighbours in the array of this side belong to neighbouring planes. */
static bool is_across(const struct pf_pass *pass, const struct pf_side *side)
{
    const int64_t *stride = side->piece->box.stride;
    return !pass->z && side->n == 1 && stride[pass->outer] < stride[pass->inner] &&
           stride[pass->outer] < stride[pass->along];
}

/* Elements of a row in a block, before and after its transform. */
static int64_t longest_row(const struct pf_pass *pass)
{
    int64_t after = pass->box.extent[pass->along] + (pass->z ? pass->z_lines.kept.skipped : 0);
    return pf_larger(pass->points[pass->along], after);
}

/* Of all fields on this side. */
static int64_t bytes_of(const struct pf_pass *pass, const struct pf_side *side)
{
    bool is_input = side == (pass->backward ? &pass->out : &pass->in);
    const int64_t *n = is_input ? pass->points : pass->box.extent;
    return n[0] * n[1] * n[2] * pass->fields * (int64_t)side->stored_bytes;
}

/* An eighth of the second-level cache, from USUAL_BLOCK to the largest block. In use the memory of the blocks is not in the
 * caches at first: of a small array, a larger block takes longer. */
static int64_t block_bytes(const struct pf_pass *pass)
{
    int64_t cache = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    int64_t most = pf_smaller(cache / 8, bytes_of(pass, &pass->out) / LEAST_BLOCKS);
    return pf_smaller(pf_tuning.block_bytes, pf_larger(USUAL_BLOCK, most));
}

/* The part of a plane in a block, so that the block fills the cache without overflow; if a plane is smaller, the number of
 * planes. A chunk of a row consists of whole cache lines, because FFTW prefers these. If neighbours belong to other planes,
 * a block has several planes. */
static void choose_blocks(struct pf_pass *pass)
{
    int64_t bytes = (int64_t)pf_larger((int64_t)pass->in.element_bytes, (int64_t)pass->out.element_bytes);
    int64_t smallest = (int64_t)pf_smaller((int64_t)pass->in.element_bytes, (int64_t)pass->out.element_bytes);
    int64_t rows = pass->points[pass->inner], planes = pass->box.extent[pass->outer];
    int64_t nz = longest_row(pass), unit = PF_CACHE_LINE / smallest;
    int64_t room = block_bytes(pass) / bytes;
    int64_t together = pass->block.in_across || pass->block.out_across ? ACROSS * unit : 1;
    room *= together > 1 ? ROOM_ACROSS : 1;
    pass->block.u_chunk = even_chunk(rows, pf_larger(1, room / nz), 1);
    pass->block.along_chunk = even_chunk(pass->box.extent[pass->along],
                                         pf_larger(unit, room / rows / together / unit * unit), unit);
    pass->block.group = pf_smaller(planes, pf_larger(together, room / (rows * nz)));
    pass->block.group = even_group(planes, pass->block.group, pass->threads);
}

static int allocate_blocks(struct pf_pass *pass)
{
    int64_t rows = pass->points[pass->inner], nz = longest_row(pass);
    size_t bytes = pass->in.element_bytes > pass->out.element_bytes ? pass->in.element_bytes : pass->out.element_bytes;
    pass->block.plane_row = padded_row(nz, bytes);
    pass->block.z_row = padded_row(nz, bytes);
    pass->block.u_row = padded_row(pass->block.along_chunk, bytes);
    pass->block.u_column = padded_row(rows, bytes);
    int64_t plane = pass->z && pass->u ? pass->block.plane_row * rows : 0;
    int64_t chunk = pass->z ? pass->block.z_row * pass->block.u_chunk : 0;
    if (pass->u || !pass->z)
        chunk = pf_larger(chunk, pf_larger(pass->block.u_row * rows, pass->block.u_column * pass->block.along_chunk));
    if (pass->block.in_across || pass->block.out_across)
        chunk += pass->block.along_chunk * PF_CACHE_LINE;
    pass->block.share = (plane + 2 * chunk) * pass->block.group;
    int64_t total = pass->block.share * pass->threads + (int64_t)4 * PF_CACHE_LINE;
    if (!(pass->block.memory = calloc(1, (size_t)total)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for blocks of %lld bytes", (long long)total);
    pass->block.plane = pass->block.memory + (PF_CACHE_LINE - (uintptr_t)pass->block.memory % PF_CACHE_LINE);
    pass->block.chunk[0] = pass->block.plane + plane * pass->block.group;
    pass->block.chunk[1] = pass->block.chunk[0] + chunk * pass->block.group;
    return PENCILFFT_OK;
}

/* ---- lines in place ---------------------------------------------------------------------------------------- */

/* Whether the pieces lie as parts of a single array of the same elements as in the caches. */
static bool is_one_array(const struct pf_pass *pass, const struct pf_side *side)
{
    const struct pf_piece *first = side->piece;
    for (int i = 1; i < side->n; i++) {
        const struct pf_piece *piece = &side->piece[i];
        int64_t start = first->start;
        for (int axis = 0; axis < 3; axis++) {
            start += (piece->box.offset[axis] - first->box.offset[axis]) * first->box.stride[axis];
            if (piece->box.stride[axis] != first->box.stride[axis])
                return false;
        }
        if (piece->start != start || piece->buffer != first->buffer || pass->fields > 1)
            return false;
    }
    return side->stored_bytes == side->element_bytes;
}

static bool is_aligned(const struct pf_side *side, int64_t elements)
{
    return elements * (int64_t)side->element_bytes % FFTW_ALIGNMENT == 0;
}

/* Whether z lines may be read from or written to the side in place. */
static bool z_direct(const struct pf_side *side, int64_t nz)
{
    return side->n == 1 && side->copied < 0 && side->stored_bytes == side->element_bytes &&
           side->piece->box.stride[Z] == 1 && is_aligned(side, nz) && is_aligned(side, side->piece->start);
}

/* The same for lines along the inner axis, at any start of a block. */
static bool u_direct(const struct pf_pass *pass, const struct pf_side *side, int ranges)
{
    const struct pf_piece *piece = side->piece;
    int64_t chunk = pass->block.along_chunk, step = ranges > 1 ? 1 : chunk < pass->box.extent[pass->along] ? chunk : 0;
    return is_one_array(pass, side) && is_aligned(side, piece->start) && is_aligned(side, piece->field) &&
           is_aligned(side, piece->box.stride[pass->along] * step) && is_aligned(side, piece->box.stride[pass->outer]);
}

/* Whether some runs have one array on both sides of the only transform of this pass and others two, because FFTW plans the
 * two cases separately. */
static bool is_both_or_none(const struct pf_pass *pass)
{
    int in = pass->in.piece->buffer, out = pass->out.piece->buffer;
    bool varies = in == PF_IN || in == PF_SPARE || in == PF_ROOM;
    return !(pass->z && pass->u) && varies && (out == PF_OUT || out == PF_ROOM);
}

/* Larger arrays are as fast in blocks, and planning lines in place takes long. */
static bool is_worth_a_trial(const struct pf_pass *pass)
{
    return !(pass->u_lines.flags & FFTW_ESTIMATE) && bytes_of(pass, &pass->out) <= pf_tuning.direct_bytes;
}

/* Whether the output leaves the caches before it is read, and is not the input. */
static bool leaves_caches(const struct pf_pass *pass)
{
    int in = pass->in.piece->buffer, out = pass->out.piece->buffer;
    in = in == PF_SPARE || in == PF_ROOM ? PF_OUT : in;
    return bytes_of(pass, &pass->out) >= pf_tuning.past_bytes && (out == PF_ROOM ? PF_OUT : out) != in;
}

/* ---- planning --------------------------------------------------------------------------------------------------- */

/* The ranges of the runs of a pass. */
struct ranges {
    const struct pf_range *range;
    int n;
};

static int run_ranges(struct pf_pass *pass, struct pf_pass_run *run, const struct ranges *by)
{
    int status = PENCILFFT_OK;
    for (int i = 0; i < by->n && !status; i++)
        status = pf_pass_run(pass, run, &by->range[i]);
    return status;
}

static int make_plans(struct pf_pass *pass, struct pf_pass_run *run, const struct ranges *by)
{
    run->planning = true;
    return run_ranges(pass, run, by);
}

static double seconds(struct pf_pass *pass, struct pf_pass_run *run, const struct ranges *by)
{
    struct pf_clock clock;
    pf_clock_start(&clock);
    run->planning = false;
    run->clock = &clock;
    run_ranges(pass, run, by);
    pf_clock_stop(&clock);
    return clock.total;
}

/* A choice of sides to read and write in place. Except flags and FFTW's plans, a candidate shares all data with the pass. */
struct candidate {
    struct pf_pass pass;
    double seconds; /* shortest trial of each range, added up if ranges take turns */
};

/* The trials: all ranges at once, or each alone. If alone, successive candidates have different ranges, so that no candidate
 * finds its data in the caches. */
struct trials {
    struct ranges by;
    bool in_turn;
};

/* Trial number `round` of each candidate; the first trial fills caches and touches new pages. */
static void run_trial(struct candidate *candidate, int n, int round, const struct trials *trials, double *shortest,
                      struct pf_pass_run *run)
{
    int turns = trials->in_turn ? trials->by.n : 1;
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < n; i++) {
            int at = (turn + i * turns / n) % turns;
            struct ranges one = {&trials->by.range[at], 1};
            double now = seconds(&candidate[i].pass, run, trials->in_turn ? &one : &trials->by);
            double *mine = &shortest[i * turns + at];
            *mine = round <= 1 || now < *mine ? now : *mine; /* restart at round 1 */
        }
}

/* As a trial counts. */
static double counted(const struct candidate *candidate)
{
    bool direct = candidate->pass.block.read_direct || candidate->pass.block.write_direct;
    return direct ? candidate->seconds / worth_it : candidate->seconds;
}

/* Number of the fastest candidate; the first copies all. */
static int fastest(struct candidate *candidate, int n, const struct trials *trials, struct pf_pass_run *run)
{
    int best = 0, turns = trials->in_turn ? trials->by.n : 1;
    double shortest[WAYS * TURNS];
    for (int round = 0; round <= TRIALS; round++)
        run_trial(candidate, n, round, trials, shortest, run);
    for (int i = 0; i < n; i++) {
        candidate[i].seconds = 0;
        for (int turn = 0; turn < turns; turn++)
            candidate[i].seconds += shortest[i * turns + turn];
        if (counted(&candidate[i]) < counted(&candidate[best]))
            best = i;
    }
    return best;
}

/* Options of a pass: read or write lines in place, or write the lines one after the other into the block. */
struct ways {
    bool reads, writes, turns;
};

static void take_ways(struct pf_pass *pass, struct ways ways)
{
    pass->block.read_direct |= ways.reads;
    pass->block.write_direct |= ways.writes;
    pass->block.out_turned |= ways.turns && !ways.writes;
}

static void release_plans(struct pf_pass *pass)
{
    pf_lines_release(&pass->z_lines);
    pf_lines_release(&pass->u_lines);
}

/* Plan a pass with estimated plans again, with other flags. */
static int plan_anew(struct pf_pass *pass, unsigned flags, struct pf_pass_run *run, const struct ranges *by)
{
    release_plans(pass);
    pass->u_lines.flags = flags;
    return make_plans(pass, run, by);
}

/* Choose among the options by timing. */
static int choose_ways(struct pf_pass *pass, struct pf_pass_run *run, const struct trials *trials, struct ways may)
{
    struct candidate candidate[WAYS];
    int n = 0, best = 0, status = PENCILFFT_OK;
    for (int i = 0; i < WAYS && !status; i++) {
        struct ways ways = {i & 1, i & 2, i & 4};
        if ((ways.reads && !may.reads) || (ways.writes && !may.writes) || (ways.turns && !may.turns))
            continue;
        candidate[n] = (struct candidate){.pass = *pass};
        take_ways(&candidate[n].pass, ways);
        if (ways.reads && ways.writes)
            candidate[n].pass.u_lines.flags = FFTW_ESTIMATE | (pass->u_lines.flags & FFTW_UNALIGNED);
        status = make_plans(&candidate[n++].pass, run, &trials->by);
    }
    if (!status)
        best = fastest(candidate, n, trials, run);
    for (int i = 0; i < n; i++)
        if (i != best)
            release_plans(&candidate[i].pass);
    unsigned flags = pass->u_lines.flags;
    *pass = candidate[best].pass;
    return status || pass->u_lines.flags == flags ? status : plan_anew(pass, flags, run, &trials->by);
}

/* Time some groups of planes of the first range, one for each thread; then plan for all. */
static int choose_by_groups(struct pf_pass *pass, struct pf_pass_run *run, const struct ranges *by, struct ways may)
{
    struct pf_range group[TURNS], first = by->range[0];
    int64_t planes = pf_smaller(first.outer_end - first.outer, pass->block.group * pass->threads);
    int n = 0;
    first.field_end = (int)pf_smaller(first.field_end, first.field + 1);
    for (int64_t at = first.outer; planes > 0 && n < TURNS && at + planes <= first.outer_end; at += planes) {
        group[n] = first;
        group[n].outer = at;
        group[n++].outer_end = at + planes;
    }
    int status = choose_ways(pass, run, &(struct trials){{group, n}, .in_turn = true}, may);
    return status ? status : make_plans(pass, run, by);
}

/* Before the sizes of blocks are known. */
static void look_at_sides(struct pf_pass *pass)
{
    bool z_reads = pass->z && (!pass->backward || !pass->u), z_writes = pass->z && (pass->backward || !pass->u);
    int64_t n_read = pass->backward ? pass->box.extent[pass->along] : pass->points[pass->along];
    int64_t n_written = pass->backward ? pass->points[pass->along] : pass->box.extent[pass->along];
    z_reads &= !(pass->backward && pf_lines_drop(&pass->z_lines));
    z_writes &= pass->backward || !pf_lines_drop(&pass->z_lines);
    pass->block.from_memory = bytes_of(pass, &pass->in) >= pf_tuning.ask_bytes;
    pass->block.to_memory = bytes_of(pass, &pass->out) >= pf_tuning.ask_bytes;
    pass->block.past_caches = leaves_caches(pass);
    pass->block.read_direct = z_reads && z_direct(&pass->in, n_read) &&
                              !(bytes_of(pass, &pass->in) >= pf_tuning.past_bytes &&
                                n_read * (int64_t)pass->in.element_bytes >= LONG_ROW);
    pass->block.write_direct = z_writes && !pass->block.past_caches && !(pass->block.read_direct && is_both_or_none(pass)) &&
                               z_direct(&pass->out, n_written);
    pass->block.in_turned = is_turned(pass, &pass->in);
    pass->block.out_turned = is_turned(pass, &pass->out);
    pass->block.in_across = is_across(pass, &pass->in);
    pass->block.out_across = is_across(pass, &pass->out);
}

/* Options for lines along the inner axis, the last to read or write; for small arrays and large arrays. */
static struct ways ways_of(const struct pf_pass *pass, int ranges)
{
    bool all = pf_tuning.direct == PF_ALWAYS, small = is_worth_a_trial(pass);
    bool reads = pass->u && (!pass->z || pass->backward), writes = pass->u && (!pass->z || !pass->backward);
    bool drop = pf_lines_drop(&pass->u_lines); /* in the block */
    struct ways may = {
        .reads = (all || small) && reads && !(drop && pass->backward) && u_direct(pass, &pass->in, ranges),
        .writes = (all || small) && writes && !(drop && !pass->backward) && u_direct(pass, &pass->out, ranges),
        .turns = (all || (!small && !(pass->u_lines.flags & FFTW_ESTIMATE))) && writes && !pass->block.out_turned &&
                 !pass->block.out_across,
    };
    may.reads &= !(may.writes && is_both_or_none(pass));
    return may;
}

int pf_pass_plan(struct pf_pass *pass, char *const buffer[PF_BUFFERS], const struct pf_range *range, int ranges)
{
    struct ranges by = {range, ranges};
    struct pf_pass_run run = {.planning = true};
    if (pf_box_elements(&pass->box) == 0)
        return PENCILFFT_OK;
    memcpy(run.buffer, buffer, sizeof run.buffer);
    look_at_sides(pass);
    choose_blocks(pass);
    int status = allocate_blocks(pass);
    if (status)
        return status;
    struct ways may = ways_of(pass, ranges);
    if (pf_tuning.direct == PF_BY_CLOCK && (may.reads || may.writes))
        return choose_ways(pass, &run, &(struct trials){by, .in_turn = false}, may);
    if (pf_tuning.direct == PF_BY_CLOCK && may.turns)
        return choose_by_groups(pass, &run, &by, may);
    take_ways(pass, may);
    return make_plans(pass, &run, &by);
}
