/* network_probe: the cost of messages in a network, for `pencilmap study calibrate --probe`.
 * Idea:  one task of each node takes part. Three measurements, the first two by few nodes while all others are silent: round
 *        trips between two nodes of each distance, for each size of message (half of a trip is the time of a message);
 *        bursts of 1, 2, ... messages at once from one node to as many others, answered by empty messages: the growth of the
 *        time shows the number of messages that a node starts together, and its injection rate; and streams, pairs of nodes
 *        on both sides of a cut across each dimension that send both ways at once, first one pair and last all pairs.
 * Source: A. Jocksch, N. Tselepidis, V. Karakasis, Improved scaling of massively parallel FFTs, CUG 2021 (benchmark at
 *        installation: ports by size of message); C. E. Cramer, J. A. Board, The development and integration of a
 *        distributed 3D FFT for a cluster of workstations, 2000 (simultaneous full-duplex streams through a switch).
 * The nodes that take part follow from the table of nodes, which all ranks have, so that no rank needs a message. A time is
 * the mean of some rounds; the output has median and minimum of the repetitions. */
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/failure.h"
#include "json_values.h"
#include "pencilfft.h"
#include "processes.h"
#include "side_program.h"

#define PROGRAM "network_probe"

enum { MAX_LABELS = 32, PLACES = 3, MOST_AT_ONCE = 64, UNKNOWN = -1, TAG = 7 };

struct settings {
    long long bytes[MAX_LIST]; /* of a message */
    int n_bytes;
    long long stream_bytes;
    int reps, rounds, warmup, at_once;
    struct seats_request seats;
    const char *torus_text, *mapfile, *json;
    const char *labels[MAX_LABELS]; /* key=value */
    int n_labels;
    bool help;
};

struct probe {
    struct settings s;
    struct processes processes;
    MPI_Comm comm;
    int rank, ranks;
    int json; /* file descriptor, or -1 */
    int *node; /* of every rank */
    int *leader; /* first rank of every node with ranks, in the order of the ranks */
    int leaders;
    char *sent, *received; /* at_once messages of the largest size each */
    json_t *trips, *bursts, *streams; /* on rank 0 */
    bool clock_went_back; /* on rank 0 */
};

/* ---- command line ------------------------------------------------------------------------------------------- */

static int take_count(const char *name, int least, int most, int *value)
{
    long long number = 0;
    int status = take_one(name, optarg, least, most, &number);
    if (!status)
        *value = (int)number;
    return status;
}

static int take_label(struct settings *s)
{
    if (!is_label(optarg))
        return pf_fail(PF_REFUSED, "--label: '%.60s' is not of the form key=value", optarg);
    if (s->n_labels == MAX_LABELS)
        return pf_fail(PF_REFUSED, "--label: more than %d labels", MAX_LABELS);
    s->labels[s->n_labels++] = optarg;
    return 0;
}

static int take(void *settings, int code)
{
    struct settings *s = settings;
    switch (code) {
    case 'b': return take_numbers("bytes", optarg, 0, 1 << 28, s->bytes, &s->n_bytes);
    case 's': return take_one("stream-bytes", optarg, 1, 1 << 28, &s->stream_bytes);
    case 'r': return take_count("reps", 1, 1 << 20, &s->reps);
    case 'n': return take_count("rounds", 1, 1 << 20, &s->rounds);
    case 'w': return take_count("warmup", 0, 1 << 20, &s->warmup);
    case 'a': return take_count("at-once", 1, MOST_AT_ONCE, &s->at_once);
    case 't':
        s->torus_text = optarg;
        s->seats.has_torus = true;
        return torus_parse(optarg, &s->seats.torus);
    case 'k': return take_count("tasks-per-node", 1, INT_MAX, &s->seats.tasks_per_node);
    case 'c': s->seats.where = optarg; return source_check(optarg);
    case 'o': s->seats.order = optarg; return 0;
    case 'm': s->mapfile = optarg; return 0;
    case 'l': return take_label(s);
    case 'j': s->json = optarg; return 0;
    case 'h': s->help = true; return 0;
    default: return pf_fail(PF_REFUSED, "unknown option, or one without its value; see --help");
    }
}

static void set_defaults(struct settings *s)
{
    *s = (struct settings){.reps = 5, .rounds = 10, .warmup = 2, .at_once = 16, .stream_bytes = 1 << 20};
    s->seats.may_assume = true;
    s->bytes[s->n_bytes++] = 0;
    for (long long bytes = 16; bytes <= 1 << 20; bytes *= 4)
        s->bytes[s->n_bytes++] = bytes;
}

static int parse(int argc, char **argv, struct settings *s)
{
    static const struct option options[] = {
        {"bytes", required_argument, NULL, 'b'},
        {"stream-bytes", required_argument, NULL, 's'},
        {"reps", required_argument, NULL, 'r'},
        {"rounds", required_argument, NULL, 'n'},
        {"warmup", required_argument, NULL, 'w'},
        {"at-once", required_argument, NULL, 'a'},
        {"machine-torus", required_argument, NULL, 't'},
        {"tasks-per-node", required_argument, NULL, 'k'},
        {"coordinates", required_argument, NULL, 'c'},
        {"launch-order", required_argument, NULL, 'o'},
        {"mapfile", required_argument, NULL, 'm'},
        {"label", required_argument, NULL, 'l'},
        {"json", required_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    set_defaults(s);
    return side_program_options(argc, argv, options, take, s);
}

static void print_help(void)
{
    printf("What messages cost on this network: by size and distance, several at once from a node, across a cut.\n\n"
           "  mpirun -n 8 network_probe --machine-torus 2x2x2 --json probe.jsonl\n\n"
           "  --bytes M,M,...          sizes of the messages (default 0, 16, 64, ... 1 MiB)\n"
           "  --stream-bytes M         size of the messages across a cut (default 1 MiB)\n"
           "  --at-once N              most messages at once from a node (default 16)\n"
           "  --reps N                 repetitions, of which the median counts (default 5)\n"
           "  --rounds N               rounds of a repetition (default 10)\n"
           "  --warmup N               rounds before each measurement (default 2)\n"
           "  --machine-torus TEXT     8x8x8 (wrapped), 8x8x8:mesh, 8wx8x4w (w: wrapped)\n"
           "  --tasks-per-node T       slots per node (default: as few as hold all)\n"
           "  --mapfile FILE           line i places rank i: x y z t\n"
           "  --launch-order LETTERS   order of assumed coordinates, fastest first (default tn)\n"
           "  --coordinates SOURCE     how a process knows its node:");
    for (int i = 0; source_usage(i); i++)
        printf(" %s", source_usage(i));
    printf("\n  --label KEY=VALUE        add it to the result; may be repeated\n"
           "  --json FILE              append the result, one line (network_probe.schema.json); - is standard output\n"
           "  --help\n\npencilmap study calibrate --probe FILE fits the figures of a machine to it.\n");
}

/* ---- nodes -------------------------------------------------------------------------------------------------- */

/* On rank 0: nodes of the torus, else hosts in the order in which they appear. */
static void number_nodes(const struct process *table, int n, const struct torus *torus, int *node)
{
    int hosts = 0;
    for (int i = 0; i < n; i++) {
        node[i] = UNKNOWN;
        if (torus && table[i].seat.located) {
            node[i] = (int)torus_node(torus, &table[i].seat.node);
            continue;
        }
        for (int j = 0; j < i && node[i] == UNKNOWN; j++)
            if (!strcmp(table[i].seat.host, table[j].seat.host))
                node[i] = node[j];
        if (node[i] == UNKNOWN)
            node[i] = hosts++;
    }
}

static bool located(const struct probe *p)
{
    return p->processes.seating.source >= 0;
}

/* If all ranks are on one host without other locations, every rank stands for a node. */
static void spread_over_ranks(struct probe *p)
{
    for (int i = 1; i < p->ranks; i++)
        if (p->node[i] != p->node[0])
            return;
    for (int i = 0; i < p->ranks && !located(p); i++)
        p->node[i] = i;
}

static int find_nodes(struct probe *p)
{
    const struct torus *torus = located(p) ? &p->s.seats.torus : NULL;
    size_t n = (size_t)p->ranks;
    p->node = seating_table(p->ranks, sizeof *p->node);
    p->leader = seating_table(p->ranks, sizeof *p->leader);
    int status = p->node && p->leader ? 0 : pf_fail(PF_REFUSED, "no memory for a table of %zu ranks", n);
    if ((status = pf_agree(status, p->comm)))
        return status;
    if (p->rank == 0)
        number_nodes(p->processes.table, p->ranks, torus, p->node);
    PF_MPI(MPI_Bcast(p->node, p->ranks, MPI_INT, 0, p->comm));
    spread_over_ranks(p);
    for (int i = 0; i < p->ranks; i++) {
        bool first = true;
        for (int j = 0; j < p->leaders && first; j++)
            first = p->node[p->leader[j]] != p->node[i];
        if (first)
            p->leader[p->leaders++] = i;
    }
    return p->leaders > 1 ? 0 : pf_fail(PF_REFUSED, "messages go between nodes: start tasks on 2 nodes or more");
}

/* Hops between the nodes of two ranks; UNKNOWN without a torus. */
static int hops(const struct probe *p, int a, int b)
{
    const struct torus *torus = &p->s.seats.torus;
    if (!located(p))
        return UNKNOWN;
    struct coordinate one = torus_coordinate(torus, p->node[a]), other = torus_coordinate(torus, p->node[b]);
    int sum = 0;
    for (int d = 0; d < torus->dims; d++) {
        int apart = abs(one.at[d] - other.at[d]);
        sum += torus->wrapped[d] && torus->extent[d] - apart < apart ? torus->extent[d] - apart : apart;
    }
    return sum;
}

/* The i-th of the nodes from which measurements start, as a rank: these nodes lie apart. */
static int place(const struct probe *p, int i)
{
    return p->leader[(long long)i * p->leaders / PLACES];
}

static int places(const struct probe *p)
{
    return p->leaders < PLACES ? 1 : PLACES;
}

/* ---- times -------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, by_size);
    return n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
}

static void median_and_least(const struct probe *p, double *times, double told[2])
{
    told[0] = median(times, p->s.reps);
    told[1] = times[0];
}

/* A repetition in which the clock went back counts as the longest; if at least half did, no time is known. */
static void check_clock(struct probe *p, double told[2])
{
    if (!isfinite(told[0])) {
        p->clock_went_back = true;
        told[0] = told[1] = 0; /* a number that JSON can hold; the result is not written */
    }
}

/* Seconds of a round, for each repetition; `round` is called for the rounds of all repetitions. */
static int repeat(const struct probe *p, int (*round)(const struct probe *, const void *), const void *what, double *times)
{
    int status = 0;
    for (int i = 0; i < p->s.warmup && !status; i++)
        status = round(p, what);
    for (int rep = 0; rep < p->s.reps && !status; rep++) {
        double start = MPI_Wtime();
        for (int i = 0; i < p->s.rounds && !status; i++)
            status = round(p, what);
        double spent = MPI_Wtime() - start; /* in some MPIs the time of day, which can be set back */
        times[rep] = spent > 0 ? spent / p->s.rounds : INFINITY;
    }
    return status;
}

/* Median and least of the repetitions of a rank, on rank 0. */
static int collect(struct probe *p, int from, double *times, double told[2])
{
    if (p->rank == from) {
        median_and_least(p, times, told);
        if (from)
            PF_MPI(MPI_Send(told, 2, MPI_DOUBLE, 0, TAG, p->comm));
    } else if (p->rank == 0) {
        PF_MPI(MPI_Recv(told, 2, MPI_DOUBLE, from, TAG, p->comm, MPI_STATUS_IGNORE));
    }
    if (p->rank == 0)
        check_clock(p, told);
    return 0;
}

/* ---- round trips -------------------------------------------------------------------------------------------- */

struct trip {
    int from, to, bytes;
};

static int trip_there_and_back(const struct probe *p, const void *what)
{
    const struct trip *t = what;
    if (p->rank == t->from) {
        PF_MPI(MPI_Send(p->sent, t->bytes, MPI_BYTE, t->to, TAG, p->comm));
        PF_MPI(MPI_Recv(p->received, t->bytes, MPI_BYTE, t->to, TAG, p->comm, MPI_STATUS_IGNORE));
    } else {
        PF_MPI(MPI_Recv(p->received, t->bytes, MPI_BYTE, t->from, TAG, p->comm, MPI_STATUS_IGNORE));
        PF_MPI(MPI_Send(p->sent, t->bytes, MPI_BYTE, t->from, TAG, p->comm));
    }
    return 0;
}

static int time_trips(struct probe *p, int from, int to, double *times)
{
    int status = 0, apart = hops(p, from, to);
    PF_MPI(MPI_Barrier(p->comm));
    for (int i = 0; i < p->s.n_bytes && !status; i++) {
        const struct trip trip = {from, to, (int)p->s.bytes[i]};
        double told[2];
        if (p->rank == from || p->rank == to)
            status = repeat(p, trip_there_and_back, &trip, times);
        if (!status)
            status = collect(p, from, times, told);
        if (!status && p->rank == 0)
            json_array_append_new(p->trips, json_pack("{s:o, s:i, s:i, s:i, s:f, s:f}", "hops",
                                                      apart == UNKNOWN ? json_null() : json_integer(apart), "from",
                                                      p->node[from], "to", p->node[to], "bytes", trip.bytes, "seconds",
                                                      told[0] / 2, "least", told[1] / 2));
    }
    return status;
}

/* The ranks at that distance from the i-th place, in the order of the nodes after that place: the first, a middle or the
 * last rank, so that routes along all dimensions occur; UNKNOWN without such ranks. */
static int partner_at(const struct probe *p, int i, int apart)
{
    int from = place(p, i), wanted = 0, last = UNKNOWN, begin = 0;
    while (p->leader[begin] != from)
        begin++;
    for (int pass = 0; pass < 2; pass++) {
        int found = 0;
        for (int j = 1; j < p->leaders; j++) {
            int to = p->leader[(begin + j) % p->leaders];
            if (hops(p, from, to) != apart)
                continue;
            last = to;
            if (pass && found == wanted)
                return to;
            found++;
        }
        wanted = i * (found - 1) / (PLACES - 1);
    }
    return last;
}

static int most_hops(const struct probe *p)
{
    int most = 1;
    for (int i = 0; i < p->leaders && located(p); i++)
        for (int j = 0; j < places(p); j++) {
            int apart = hops(p, p->leader[i], place(p, j));
            most = apart > most ? apart : most;
        }
    return most;
}

static int probe_trips(struct probe *p, double *times)
{
    int status = 0, most = most_hops(p);
    for (int apart = 1; apart <= most && !status; apart++)
        for (int i = 0; i < places(p) && !status; i++) {
            int to = partner_at(p, i, located(p) ? apart : UNKNOWN);
            if (to != UNKNOWN)
                status = time_trips(p, place(p, i), to, times);
        }
    return status;
}

/* ---- bursts ------------------------------------------------------------------------------------------------- */

struct burst {
    int from, n, bytes;
    const int *to; /* ranks */
    MPI_Request *requests;
};

/* Every message is answered by an empty message, so that the time ends with the last arrival. */
static int burst_and_answers(const struct probe *p, const void *what)
{
    const struct burst *b = what;
    size_t step = (size_t)b->bytes;
    if (p->rank != b->from) {
        PF_MPI(MPI_Recv(p->received, b->bytes, MPI_BYTE, b->from, TAG, p->comm, MPI_STATUS_IGNORE));
        PF_MPI(MPI_Send(p->sent, 0, MPI_BYTE, b->from, TAG, p->comm));
        return 0;
    }
    for (int i = 0; i < b->n; i++)
        PF_MPI(MPI_Irecv(p->received, 0, MPI_BYTE, b->to[i], TAG, p->comm, &b->requests[i]));
    for (int i = 0; i < b->n; i++)
        PF_MPI(MPI_Isend(p->sent + (size_t)i * step, b->bytes, MPI_BYTE, b->to[i], TAG, p->comm, &b->requests[b->n + i]));
    PF_MPI(MPI_Waitall(2 * b->n, b->requests, MPI_STATUSES_IGNORE));
    return 0;
}

/* The other nodes as ranks, the nearest first. */
static int nearest(const struct probe *p, int from, int to[MOST_AT_ONCE])
{
    int n = 0, most = located(p) ? most_hops(p) : UNKNOWN;
    for (int apart = located(p) ? 1 : UNKNOWN; apart <= most; apart++)
        for (int i = 0; i < p->leaders && n < p->s.at_once; i++)
            if (p->leader[i] != from && hops(p, from, p->leader[i]) == apart)
                to[n++] = p->leader[i];
    return n;
}

static json_t *nodes_of(const struct probe *p, const int *ranks, int n)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(array, json_integer(p->node[ranks[i]]));
    return array;
}

static int time_bursts(struct probe *p, int from, double *times)
{
    int to[MOST_AT_ONCE], status = 0, n = nearest(p, from, to);
    MPI_Request requests[2 * MOST_AT_ONCE] = {0};
    PF_MPI(MPI_Barrier(p->comm));
    for (int i = 0; i < p->s.n_bytes; i++)
        for (int m = 1; m <= n && !status; m++) {
            const struct burst burst = {from, m, (int)p->s.bytes[i], to, requests};
            bool takes_part = p->rank == from;
            double told[2];
            for (int j = 0; j < m; j++)
                takes_part |= p->rank == to[j];
            if (takes_part)
                status = repeat(p, burst_and_answers, &burst, times);
            if (!status)
                status = collect(p, from, times, told);
            if (!status && p->rank == 0)
                json_array_append_new(p->bursts,
                                      json_pack("{s:i, s:o, s:i, s:f, s:f}", "from", p->node[from], "to", nodes_of(p, to, m),
                                                "bytes", burst.bytes, "seconds", told[0], "least", told[1]));
        }
    return status;
}

static int probe_bursts(struct probe *p, double *times)
{
    int status = 0;
    for (int i = 0; i < places(p) && !status; i++)
        status = time_bursts(p, place(p, i), times);
    return status;
}

/* ---- streams ------------------------------------------------------------------------------------------------ */

static int both_ways(const struct probe *p, const void *what)
{
    const struct trip *t = what;
    int other = p->rank == t->from ? t->to : t->from;
    PF_MPI(MPI_Sendrecv(p->sent, t->bytes, MPI_BYTE, other, TAG, p->received, t->bytes, MPI_BYTE, other, TAG, p->comm,
                        MPI_STATUS_IGNORE));
    return 0;
}

/* Ranks on both sides of a cut in the middle of a dimension (of the list of nodes without a torus), in pairs half of the
 * extent apart; returns the number of pairs. */
static int pairs_across(const struct probe *p, int dimension, int *pairs)
{
    const struct torus *torus = &p->s.seats.torus;
    int n = 0;
    if (dimension == UNKNOWN) {
        for (int i = 0; i < p->leaders / 2; i++) {
            pairs[n++] = p->leader[i];
            pairs[n++] = p->leader[i + p->leaders / 2];
        }
        return n / 2;
    }
    int half = torus->extent[dimension] / 2;
    for (int i = 0; i < p->leaders; i++) {
        struct coordinate at = torus_coordinate(torus, p->node[p->leader[i]]);
        if (at.at[dimension] >= half)
            continue;
        at.at[dimension] += half;
        int across = (int)torus_node(torus, &at);
        for (int j = 0; j < p->leaders; j++)
            if (p->node[p->leader[j]] == across) {
                pairs[n++] = p->leader[i];
                pairs[n++] = p->leader[j];
            }
    }
    return n / 2;
}

static int time_streams(struct probe *p, int dimension, const int *pairs, int all, int n, double *times)
{
    struct trip mine = {UNKNOWN, UNKNOWN, (int)p->s.stream_bytes};
    double told[2];
    json_t *nodes = json_array();
    for (int i = 0; i < n; i++) {
        const int *pair = pairs + 2 * ((long long)i * all / n);
        if (p->rank == pair[0] || p->rank == pair[1])
            mine = (struct trip){pair[0], pair[1], mine.bytes};
        json_array_append_new(nodes, nodes_of(p, pair, 2));
    }
    PF_MPI(MPI_Barrier(p->comm));
    memset(times, 0, (size_t)p->s.reps * sizeof *times);
    int status = mine.from == UNKNOWN ? 0 : repeat(p, both_ways, &mine, times);
    if (status)
        return status;
    PF_MPI(MPI_Reduce(p->rank ? times : MPI_IN_PLACE, times, p->s.reps, MPI_DOUBLE, MPI_MAX, 0, p->comm));
    if (p->rank) {
        json_decref(nodes);
        return 0;
    }
    median_and_least(p, times, told);
    check_clock(p, told);
    char axis[2] = "";
    if (dimension != UNKNOWN)
        axis[0] = p->s.seats.torus.letter[dimension];
    json_array_append_new(p->streams, json_pack("{s:o, s:o, s:i, s:f, s:f}", "axis", text_or_null(axis), "pairs", nodes,
                                                "bytes", mine.bytes, "seconds", told[0], "least", told[1]));
    return 0;
}

static int probe_streams(struct probe *p, double *times)
{
    int status = 0, *pairs = seating_table(p->ranks, sizeof *pairs);
    if ((status = pf_agree(pairs ? 0 : pf_fail(PF_REFUSED, "no memory for the pairs of %d ranks", p->ranks), p->comm)))
        goto done;
    for (int d = located(p) ? 0 : UNKNOWN; d < (located(p) ? p->s.seats.torus.dims : 0) && !status; d++) {
        int all = pairs_across(p, d, pairs);
        for (int n = 1; all && !status; n = 2 * n < all ? 2 * n : all) {
            status = time_streams(p, d, pairs, all, n, times);
            if (n == all)
                break;
        }
    }
done:
    free(pairs);
    return status;
}

/* ---- output ------------------------------------------------------------------------------------------------- */

static int append(struct probe *p)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING + 1];
    const struct seating *s = &p->processes.seating;
    int status = mpi_library_line(library);
    if (status)
        return status;
    json_t *object = json_pack("{s:s, s:{s:s, s:s}, s:o, s:i, s:i, s:o, s:o, s:s, s:o, s:i, s:i, s:o, s:o, s:o, s:o}",
                               "schema", "pencilmap-network-probe/1", "program", "name", PROGRAM, "version",
                               PENCILFFT_VERSION, "mpi", text(library), "ranks", p->ranks, "nodes", p->leaders, "torus",
                               located(p) ? text_or_null(p->s.torus_text) : json_null(), "tasks_per_node",
                               s->tasks_per_node ? json_integer(s->tasks_per_node) : json_null(), "coordinate_source",
                               s->source < 0 ? "none" : source_name(s->source), "launch_order",
                               text_or_null(seats_order(&p->s.seats, s->source)), "reps", p->s.reps, "rounds", p->s.rounds,
                               "labels", json_labels(p->s.labels, p->s.n_labels), "round_trips", p->trips, "bursts",
                               p->bursts, "streams", p->streams);
    p->trips = p->bursts = p->streams = NULL;
    return json_file_append(object, p->json);
}

static double seconds_of(const json_t *array, size_t i)
{
    return json_real_value(json_object_get(json_array_get(array, i), "seconds"));
}

static void print_table(const struct probe *p, FILE *file)
{
    size_t last = json_array_size(p->bursts) - 1;
    const json_t *each;
    const char *order = seats_order(&p->s.seats, p->processes.seating.source);
    fprintf(file, "%d nodes; coordinates: %s%s%s\n%10s %6s %14s\n", p->leaders,
            located(p) ? source_name(p->processes.seating.source) : "none", order ? ":" : "", order ? order : "", "#bytes",
            "hops", "t_message[us]");
    for (size_t i = 0; (each = json_array_get(p->trips, i)); i++)
        fprintf(file, "%10lld %6lld %14.3f\n", json_integer_value(json_object_get(each, "bytes")),
                json_integer_value(json_object_get(each, "hops")), 1e6 * seconds_of(p->trips, i));
    fprintf(file, "%zu messages of %lld bytes at once from a node and the answer: %.3f us\n",
            json_array_size(json_object_get(json_array_get(p->bursts, last), "to")),
            json_integer_value(json_object_get(json_array_get(p->bursts, last), "bytes")),
            1e6 * seconds_of(p->bursts, last));
    for (size_t i = 0; (each = json_array_get(p->streams, i)); i++) {
        size_t pairs = json_array_size(json_object_get(each, "pairs"));
        const char *axis = json_string_value(json_object_get(each, "axis"));
        fprintf(file, "%zu stream%s both ways across %s: %.1f MB/s each way together\n", pairs, pairs > 1 ? "s" : "",
                axis ? axis : "the list of nodes",
                1e-6 * (double)pairs * (double)p->s.stream_bytes / seconds_of(p->streams, i));
    }
}

/* ---- all ---------------------------------------------------------------------------------------------------- */

static int make_buffers(struct probe *p, double **times)
{
    long long most = p->s.stream_bytes;
    for (int i = 0; i < p->s.n_bytes; i++)
        most = p->s.bytes[i] * p->s.at_once > most ? p->s.bytes[i] * p->s.at_once : most;
    p->sent = calloc((size_t)most, 1); /* touched only on the few ranks that send bursts */
    p->received = malloc((size_t)most);
    *times = malloc((size_t)p->s.reps * sizeof **times);
    bool enough = p->sent && p->received && *times;
    return pf_agree(enough ? 0 : pf_fail(PF_REFUSED, "no memory for messages of %lld bytes", most), p->comm);
}

static int measure(struct probe *p)
{
    double *times = NULL;
    json_watch_memory();
    p->trips = json_array();
    p->bursts = json_array();
    p->streams = json_array();
    int status = make_buffers(p, &times);
    if (!status && !(status = probe_trips(p, times)) && !(status = probe_bursts(p, times)))
        status = probe_streams(p, times);
    free(times);
    if (!status && p->clock_went_back)
        status = pf_fail(PF_REFUSED,
                         "the clock went back in half of the %d repetitions of a case or more; run the probe again, or with "
                         "more --reps",
                         p->s.reps);
    if (!status && p->rank == 0) {
        print_table(p, p->json == STDOUT_FILENO ? stderr : stdout);
        status = p->json >= 0 ? append(p) : 0;
    }
    return pf_agree(status, p->comm);
}

static int run(void *of, int rank, int ranks, int argc, char **argv)
{
    struct probe *p = of;
    p->ranks = ranks;
    int status = pf_agree(parse(argc, argv, &p->s), MPI_COMM_WORLD);
    if (!status && p->s.help) {
        if (rank == 0)
            print_help();
        return 0;
    }
    if (status || (status = processes_seat(&p->s.seats, p->s.mapfile, &p->processes)))
        return status;
    p->comm = p->processes.seating.comm;
    p->rank = p->processes.seating.rank;
    if (!(status = side_program_open(p->s.json, p->rank, p->comm, &p->json)) && !(status = pf_agree(find_nodes(p), p->comm)))
        status = measure(p);
    return status;
}

static void release(void *of)
{
    struct probe *p = of;
    json_decref(p->trips);
    json_decref(p->bursts);
    json_decref(p->streams);
    free(p->node);
    free(p->leader);
    free(p->sent);
    free(p->received);
    side_program_close(p->json);
    processes_release(&p->processes);
}

int main(int argc, char **argv)
{
    struct probe p = {.json = -1, .processes = {.seating = {.comm = MPI_COMM_NULL}}};
    return side_program_main(&(struct side_program){PROGRAM, run, release, &p}, argc, argv);
}
