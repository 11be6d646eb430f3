/* Idea:  rank 0 asks one rank after the other for its traffic, and writes it as it comes: no rank holds the traffic of all.
 *        The file is replaced whole. Open MPI does not count these messages. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/whole_file.h"
#include "count.h"
#include "windows.h"

enum { TAG = 1, WORDS = 5, PIECE = 1 << 16 };

const char *traffic_file(void)
{
    const char *name = getenv("PENCILMAP_TRAFFIC");
    return name && *name ? name : "traffic.txt";
}

/* ---- what a rank sends: numbers ---------------------------------------------------------------------------------- */

struct numbers {
    uint64_t *at;
    size_t used, places;
    bool failed;
};

static void put(struct numbers *to, uint64_t number)
{
    if (to->used == to->places) {
        size_t places = to->places ? 2 * to->places : 1024;
        uint64_t *larger = to->failed ? NULL : realloc(to->at, places * sizeof *larger);
        if (!larger) {
            to->failed = true;
            return;
        }
        to->at = larger;
        to->places = places;
    }
    to->at[to->used++] = number;
}

static void put_communicator(struct numbers *to, const struct communicator *c)
{
    const int about[] = {c->size, c->first, c->stride, c->inter, c->list != NULL, c->dimensions};
    put(to, c->hash);
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        put(to, (uint64_t)(int64_t)about[i]);
    for (int i = 0; i < c->dimensions; i++)
        put(to, (uint64_t)c->extent[i] * 2 + (c->periodic[i] != 0));
    for (int i = 0; c->list && i < c->size; i++)
        put(to, (uint64_t)(int64_t)c->list[i]);
}

static void put_pair(struct numbers *to, const struct phases *phases, int kind, const struct pair *pair)
{
    uint64_t before = 0, own, all = window_kinds(&(int){0})[kind].windows;
    for (int phase = 0; phase < phases->count; phase++, before += own) {
        own = phases->of_kind[kind][phase];
        uint64_t bytes = phase_share(pair->bytes, before, own, all);
        uint64_t messages = phase_share(pair->messages, before, own, all);
        if (!bytes && !messages)
            continue;
        put(to, (uint64_t)phase << 8 | pair_kind(pair->key));
        put(to, (uint64_t)pair_communicator(pair->key));
        put(to, (uint64_t)pair_partner(pair->key));
        put(to, bytes);
        put(to, messages);
    }
}

static uint64_t nanoseconds(double seconds)
{
    return seconds > 0 ? (uint64_t)(1e9 * seconds) : 0;
}

/* The number of communicators, the communicators, the time outside of MPI and inside in each phase, then WORDS numbers for
 * each pair. */
static struct numbers own_numbers(const struct phases *phases)
{
    struct numbers to = {.at = NULL};
    int kinds, communicators = communicators_count();
    const struct window_kind *kind = window_kinds(&kinds);
    put(&to, (uint64_t)communicators);
    for (int i = 0; i < communicators; i++)
        put_communicator(&to, communicator_at(i));
    for (int phase = 0; phase < phases->count; phase++) {
        struct window_kind times = phase_times(phases, phase);
        put(&to, nanoseconds(times.computing));
        put(&to, nanoseconds(times.seconds - times.computing));
    }
    for (int k = 0; k < kinds; k++)
        for (size_t i = 0; i < kind[k].pairs.size; i++)
            if (kind[k].pairs.at[i].messages)
                put_pair(&to, phases, k, kind[k].pairs.at + i);
    return to;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

struct output {
    struct whole_file whole;
    FILE *file;
    uint64_t lines;
    uint64_t *hashes; /* of the communicators in the file */
    size_t known, places;
    int phases;
};

static bool output_open(struct output *o)
{
    const char *why = whole_file_open(&o->whole, traffic_file());
    if (why)
        traffic_say("%.400s cannot be written: %s", traffic_file(), why);
    o->file = o->whole.out;
    return !why;
}

static void print_head(struct output *o, const struct phases *phases, const uint64_t *outside, const double *seconds)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, kinds;
    PMPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = 0;
    for (char *c = version; *c; c++)
        if (*c == '\t')
            *c = ' ';
    fprintf(o->file, "pencilmap traffic 1\nmpi %s\nranks %d\nseconds %.6f\n", version, traffic.ranks, seconds[0]);
    fprintf(o->file, "processor_seconds %.6f\nranks_per_core %.6f\n", seconds[1], traffic.ranks_per_core);
    if (outside[1])
        fprintf(o->file, "outside %llu %llu\n", (unsigned long long)outside[0], (unsigned long long)outside[1]);
    if (!phases->alike)
        fprintf(o->file, "# the ranks do not agree on windows, so there is one phase\n");
    window_kinds(&kinds);
    o->phases = phases->count;
    for (int phase = 0; phase < phases->count; phase++) {
        int level = 0;
        for (int k = 0; k < kinds; k++)
            level = phases->of_kind[k][phase] ? window_kind_level(k) : level;
        bool rest = phases->has_rest && phase == phases->count - 1;
        fprintf(o->file, "phase %d times %llu seconds %.6f%s", phase, (unsigned long long)phases->windows[phase],
                phase_times(phases, phase).seconds, rest ? " rest" : "");
        fprintf(o->file, level && !rest ? " level %d\n" : "\n", level);
    }
    fprintf(o->file, "# phase communicator kind from to bytes messages; kinds: 0 point-to-point, 1 one-sided,"
                     " 2 collective with stated pairs, 3 collective with modelled pairs\n");
}

static void print_members(FILE *file, int number, const uint64_t *c)
{
    bool listed = c[5], inter = c[4];
    int64_t size = (int64_t)c[1];
    const uint64_t *extent = c + 7, *list = extent + c[6];
    fprintf(file, "communicator %d size %lld", number, (long long)size);
    for (uint64_t i = 0; i < c[6]; i++)
        fprintf(file, "%s%llu", i ? "x" : " grid ", (unsigned long long)extent[i] / 2);
    for (uint64_t i = 0; i < c[6]; i++)
        fprintf(file, "%s%llu", i ? "," : " periodic ", (unsigned long long)extent[i] % 2);
    fprintf(file, inter ? " inter" : "");
    if (!listed)
        fprintf(file, " first %lld stride %lld\n", (long long)(int64_t)c[2], (long long)(int64_t)c[3]);
    for (int64_t i = 0; listed && i < size; i++)
        fprintf(file, "%s%lld%s", i ? "," : " ranks ", (long long)(int64_t)list[i], i + 1 < size ? "" : "\n");
}

/* The number that a communicator has in the file, -1 without memory. */
static int number_in_file(struct output *o, uint64_t hash)
{
    for (size_t i = 0; i < o->known; i++)
        if (o->hashes[i] == hash)
            return (int)i;
    return -1;
}

static bool print_communicator(struct output *o, const uint64_t *c)
{
    if (number_in_file(o, c[0]) >= 0)
        return true;
    if (o->known == o->places) {
        uint64_t *larger = realloc(o->hashes, (2 * o->places + 64) * sizeof *larger);
        if (!larger)
            return false;
        o->hashes = larger;
        o->places = 2 * o->places + 64;
    }
    print_members(o->file, (int)o->known, c);
    o->hashes[o->known++] = c[0];
    return true;
}

static void print_pair(struct output *o, int rank, const uint64_t *pair, const int *numbers)
{
    unsigned kind = pair[0] & 0xff;
    int partner = (int)pair[2], from = kind == FETCHED ? partner : rank, to = kind == FETCHED ? rank : partner;
    fprintf(o->file, "%llu %d %u %d %d %llu %llu\n", (unsigned long long)(pair[0] >> 8), numbers[pair[1]],
            kind == FETCHED ? ONE_SIDED : kind, from, to, (unsigned long long)pair[3], (unsigned long long)pair[4]);
    o->lines++;
}

static bool print_rank(struct output *o, int rank, const struct numbers *n)
{
    const uint64_t *at = n->at + 1, *end = n->at + n->used;
    size_t communicators = n->at[0];
    int *numbers = malloc((communicators + 1) * sizeof *numbers);
    bool done = numbers != NULL;
    for (size_t i = 0; i < communicators && done; i++) {
        if ((done = print_communicator(o, at)))
            numbers[i] = number_in_file(o, at[0]);
        at += 7 + at[6] + (at[5] ? at[1] : 0);
    }
    for (int inside = 0; inside < 2 && done; inside++) {
        fprintf(o->file, inside ? " waiting" : "rank %d computing", rank);
        for (int phase = 0; phase < o->phases; phase++)
            fprintf(o->file, " %.6f", 1e-9 * (double)at[2 * phase + inside]);
        fprintf(o->file, inside ? "\n" : "");
    }
    for (at += (ptrdiff_t)2 * o->phases; at < end && done; at += WORDS)
        print_pair(o, rank, at, numbers);
    free(numbers);
    return done;
}

/* ---- rank after rank --------------------------------------------------------------------------------------------- */

/* Send the numbers when rank 0 asks for them; their count comes first, 0 if memory was short. */
static void send_numbers(const struct numbers *n, MPI_Comm comm)
{
    uint64_t used = n->failed ? 0 : n->used;
    PMPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
    PMPI_Send(&used, 1, MPI_UINT64_T, 0, TAG, comm);
    for (size_t i = 0; i < used; i += PIECE)
        PMPI_Send(n->at + i, (int)(used - i < PIECE ? used - i : PIECE), MPI_UINT64_T, 0, TAG, comm);
}

static bool receive_numbers(struct numbers *n, int rank, MPI_Comm comm)
{
    uint64_t used = 0;
    *n = (struct numbers){.at = NULL};
    PMPI_Send(NULL, 0, MPI_BYTE, rank, TAG, comm);
    PMPI_Recv(&used, 1, MPI_UINT64_T, rank, TAG, comm, MPI_STATUS_IGNORE);
    if (!used)
        return false;
    n->at = malloc(used * sizeof *n->at);
    uint64_t *piece = n->at ? n->at : malloc(PIECE * sizeof *piece); /* receive in any case: the rank sends */
    for (size_t i = 0; i < used && piece; i += PIECE)
        PMPI_Recv(n->at ? n->at + i : piece, PIECE, MPI_UINT64_T, rank, TAG, comm, MPI_STATUS_IGNORE);
    n->used = used;
    if (!n->at)
        free(piece);
    return n->at != NULL;
}

static bool print_all(struct output *o, const struct numbers *own, MPI_Comm comm)
{
    bool done = !own->failed && print_rank(o, 0, own);
    for (int rank = 1; rank < traffic.ranks; rank++) {
        struct numbers n;
        done &= receive_numbers(&n, rank, comm) && done && print_rank(o, rank, &n);
        free(n.at);
    }
    return done;
}

static void output_close(struct output *o, bool done)
{
    if (done)
        fprintf(o->file, "end %llu\n", (unsigned long long)o->lines);
    else
        traffic_say("no file is written: memory was short on a rank");
    const char *why = whole_file_close(&o->whole, done);
    if (why)
        traffic_say("%.400s was not written completely: %s", traffic_file(), why);
    free(o->hashes);
}

/* `seconds`: of the clock and of a processor, the most of a rank. */
static void write_phases(const struct phases *phases, const double *seconds, MPI_Comm comm)
{
    struct output o = {.file = NULL};
    uint64_t totals[3] = {traffic.outside_bytes, traffic.outside_messages, traffic.rank == 0 && output_open(&o)};
    const uint64_t *outside = totals, *open = totals + 2;
    if (sums_of_all(totals, 3, comm) && *open) {
        struct numbers own = own_numbers(phases);
        if (traffic.rank > 0) {
            send_numbers(&own, comm);
        } else {
            print_head(&o, phases, outside, seconds);
            output_close(&o, print_all(&o, &own, comm));
            if (outside[1])
                traffic_say("messages to processes of other jobs, or that MPI_Comm_spawn started, are only in the sum "
                            "`outside`");
        }
        free(own.at);
    }
}

static void write_agreed(const double *seconds, MPI_Comm comm)
{
    static struct phases phases;
    double longest[2] = {0};
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    PMPI_Allreduce(seconds, longest, 2, MPI_DOUBLE, MPI_MAX, comm);
    uint64_t failed = !phases_agree(&phases, comm) || traffic.failed;
    if (sums_of_all(&failed, 1, comm) && !failed)
        write_phases(&phases, longest, comm);
    else if (traffic.rank == 0)
        traffic_say("no file is written: memory was short on a rank, or MPI failed");
}

void traffic_write(void)
{
    MPI_Comm comm;
    const double seconds[2] = {traffic_seconds(), traffic_processor_seconds()};
    traffic_lock();
    window_close();
    traffic_unlock();
    monitoring_counts(false);
    if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS) {
        write_agreed(seconds, comm);
        PMPI_Comm_free(&comm);
    }
    monitoring_counts(true);
}
