/* transpose_bench: the global transposes alone, for a range of message and communicator sizes, with every exchange
 * algorithm.
 * Idea:  for p ranks and messages of m bytes, choose an array whose row exchange on a px1 grid sends these messages. The
 *        library plans and runs the exchange as in a transform, with packing and unpacking timed separately. If a group is
 *        smaller than the job, as many groups as fit run at once, like the rows of a process grid.
 * Source: the tables of M. Schulz, 3D-FFT on different networks, section 5, and of the Intel MPI Benchmarks (IMB). Beside
 *         them MPI's own collectives are timed on plain bytes (bare_exchange.h), for every size, also 0, and FFTW's
 *         transposes on doubles. A sample is the
 *         slowest rank's, and the table shows the median over the repetitions. */
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bare_exchange.h"
#include "common/failure.h"
#include "common/names.h"
#include "json_values.h"
#include "report.h"
#include "side_program.h"

#define PROGRAM "transpose_bench"

enum { ELEMENT_BYTES = 16, LONGEST_RUN = 32 };

struct settings {
    long long groups[MAX_LIST];            /* ranks of a group */
    long long bytes[MAX_LIST];             /* of a message */
    int n_groups, n_bytes;
    const char *exchanges[MAX_LIST];
    int n_exchanges;
    int reps, warmup;
    long long largest_bytes;               /* limit for a rank's part; larger cases are omitted */
    const char *json;
    bool help;
};

enum { EXCHANGE, TOTAL, N_TIMES }; /* without and with packing */

/* One case: an exchange with one message size in groups of one size. */
struct result {
    bool refused;
    char message[512];
    struct samples samples;  /* its phases are EXCHANGE and TOTAL */
    int64_t bytes, messages; /* maximum over ranks */
    char means[64];
};

struct bench {
    struct settings s;
    int rank, ranks;
    int json; /* file descriptor, or -1 */
    FILE *table;
};

/* ---- command line ------------------------------------------------------------------------------------------- */

/* The library's own text of that name; NULL with a message that lists the known names. */
static const char *find_exchange(const char *word)
{
    const char *known[MAX_LIST];
    struct pf_table table = {"exchange", known, sizeof *known, 0};
    for (const char *name; table.count < MAX_LIST && (name = pencilfft_exchange_name(table.count)); table.count++)
        known[table.count] = name;
    for (int i = 0; table.count < MAX_LIST && bare_name(i); i++)
        known[table.count++] = bare_name(i);
    const char *const *found = pf_table_find(&table, word);
    return found ? *found : NULL;
}

static int take_exchanges(struct settings *s, char *text)
{
    s->n_exchanges = 0;
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        const char *name = find_exchange(word);
        if (!name)
            return PF_REFUSED;
        if (!strcmp(name, "auto"))
            return pf_fail(PF_REFUSED, "--exchange: %s chooses among the others; name those instead", word);
        if (s->n_exchanges == MAX_LIST)
            return pf_fail(PF_REFUSED, "--exchange: more than %d names", MAX_LIST);
        s->exchanges[s->n_exchanges++] = name;
    }
    return s->n_exchanges ? 0 : pf_fail(PF_REFUSED, "--exchange: needs names, separated by commas");
}

static void set_defaults(struct settings *s, int ranks)
{
    *s = (struct settings){.reps = 20, .warmup = 2, .largest_bytes = 64 << 20};
    for (int p = 2; p < ranks && s->n_groups < MAX_LIST - 1; p *= 2)
        s->groups[s->n_groups++] = p;
    s->groups[s->n_groups++] = ranks;
    for (long long bytes = ELEMENT_BYTES; bytes <= 1 << 20; bytes *= 4)
        s->bytes[s->n_bytes++] = bytes;
    for (int i = 0; pencilfft_exchange_name(i) && s->n_exchanges < MAX_LIST; i++)
        if (strcmp(pencilfft_exchange_name(i), "auto"))
            s->exchanges[s->n_exchanges++] = pencilfft_exchange_name(i);
    for (int i = 0; bare_name(i) && s->n_exchanges < MAX_LIST; i++)
        s->exchanges[s->n_exchanges++] = bare_name(i);
}

static int check_settings(const struct settings *s, int ranks)
{
    for (int i = 0; i < s->n_groups; i++)
        if (s->groups[i] > ranks)
            return pf_fail(PF_REFUSED, "--ranks: groups of %lld need more processes than the %d that were started",
                           s->groups[i], ranks);
    return 0;
}

static int take(void *settings, int code)
{
    struct settings *s = settings;
    long long value = 0;
    int status = 0;
    switch (code) {
    case 'n': return take_numbers("ranks", optarg, 1, INT_MAX, s->groups, &s->n_groups);
    case 'b': return take_numbers("bytes", optarg, 0, 1LL << 40, s->bytes, &s->n_bytes);
    case 'e': return take_exchanges(s, optarg);
    case 'j': s->json = optarg; return 0;
    case 'h': s->help = true; return 0;
    case 'r':
        status = take_one("reps", optarg, 1, 1 << 20, &value);
        s->reps = (int)value;
        return status;
    case 'm': return take_one("largest", optarg, 1, LLONG_MAX, &s->largest_bytes);
    default: return pf_fail(PF_REFUSED, "unknown option, or one without its value; see --help");
    }
}

static int parse(int argc, char **argv, int ranks, struct settings *s)
{
    static const struct option options[] = {
        {"ranks", required_argument, NULL, 'n'},    {"bytes", required_argument, NULL, 'b'},
        {"exchange", required_argument, NULL, 'e'}, {"reps", required_argument, NULL, 'r'},
        {"largest", required_argument, NULL, 'm'},  {"json", required_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
    };
    set_defaults(s, ranks);
    int status = side_program_options(argc, argv, options, take, s);
    return status ? status : check_settings(s, ranks);
}

static void print_help(void)
{
    printf("The global transposes of a pencil FFT alone: message size by communicator size, every exchange.\n\n"
           "  mpirun -n 8 transpose_bench --ranks 2,4,8 --bytes 1024,65536 --json transposes.jsonl\n\n"
           "  --ranks P,P,...     ranks of a group; as many groups as fit run at once (default 2,4,... and all)\n"
           "  --bytes M,M,...     bytes of one message (default 16, 64, ... 1 MiB); the library's exchanges\n"
           "                      take multiples of 4, those of MPI any, also 0, FFTW's of 8\n"
           "  --exchange A,B,...  algorithms (default all):");
    for (int i = 0; pencilfft_exchange_name(i); i++)
        if (strcmp(pencilfft_exchange_name(i), "auto"))
            printf(" %s", pencilfft_exchange_name(i));
    printf("\n                      and MPI's own on plain bytes, and FFTW's on doubles:");
    for (int i = 0; bare_name(i); i++)
        printf(" %s", bare_name(i));
    printf("\n  --reps N            timed repetitions (default 20)\n"
           "  --largest BYTES     omit cases where a rank holds more (default 64 MiB)\n"
           "  --json FILE         append one JSON object a case (transpose_bench.schema.json); - is standard output\n"
           "  --help\n\npencilmap study transposes compares the file with another, of another MPI or network,\n"
           "and draws it with --plot.\n");
}

/* ---- a single case ------------------------------------------------------------------------------------------ */

/* Bytes of the elements of an array whose messages can have this size: complex double or single, or real single; else 0. */
static int element_of(long long bytes)
{
    return !bytes || bytes % 4 ? 0 : bytes % 8 ? 4 : bytes % ELEMENT_BYTES ? 8 : ELEMENT_BYTES;
}

/* Messages of so many bytes each: runs along z as long as possible, the rest along x. */
static pencilfft_desc describe(int p, long long bytes, const char *exchange)
{
    pencilfft_desc desc;
    int64_t length = 1, elements = bytes / element_of(bytes);
    pencilfft_desc_init(&desc);
    while (length < LONGEST_RUN && elements % (2 * length) == 0)
        length *= 2;
    desc.nx = elements / length;
    desc.ny = p;
    desc.nz = p * length;
    desc.R = p;
    desc.C = 1;
    desc.directions = PENCILFFT_FORWARD;
    desc.type = element_of(bytes) == 4 ? "dct" : "c2c";
    desc.precision = element_of(bytes) == ELEMENT_BYTES ? "double" : "single";
    desc.exchange = exchange;
    desc.rigor = "estimate";
    return desc;
}

/* A plan whose transposes are timed. */
struct timed {
    pencilfft_plan plan;
    MPI_Comm group;
    void *in, *out;
};

static int once(const void *of, double *seconds)
{
    const struct timed *t = of;
    double all[PENCILFFT_MAX_PHASES];
    PF_MPI(MPI_Barrier(t->group));
    int status = pencilfft_transpose(t->plan, PENCILFFT_ROW, PENCILFFT_FORWARD, t->in, t->out);
    if (!status && !(status = pencilfft_phase_seconds(t->plan, all))) {
        seconds[EXCHANGE] = all[phase_of(t->plan, PENCILFFT_EXCHANGE)];
        seconds[TOTAL] = all[phase_of(t->plan, PENCILFFT_TOTAL)];
    }
    return status;
}

static int count_sent(pencilfft_plan plan, int p, struct result *r)
{
    int64_t *both = calloc(2 * (size_t)p, sizeof *both);
    int status = both ? pencilfft_traffic(plan, PENCILFFT_ROW, PENCILFFT_FORWARD, both, both + p)
                      : pf_fail(PF_REFUSED, "no memory for the traffic of %d ranks", p);
    for (int i = 0; i < p && !status; i++) {
        r->bytes += both[i];
        r->messages += both[p + i];
    }
    free(both);
    return status;
}

static int time_plan(const struct bench *b, pencilfft_plan plan, MPI_Comm group, size_t element, struct samples *samples)
{
    struct timed timed = {.plan = plan, .group = group};
    int64_t elements = 0;
    int status = pencilfft_alloc_elements(plan, &elements);
    if (!status && !(status = pencilfft_alloc(plan, &timed.in)))
        status = pencilfft_alloc(plan, &timed.out);
    if ((status = pf_agree(status, group)))
        return status;
    memset(timed.in, 0, (size_t)elements * element);
    return samples_take(samples, b->s.warmup, once, &timed);
}

/* Ranks beyond the last full group take part in this call only. */
static int reduce(MPI_Comm active, struct result *r)
{
    int status = samples_reduce(active, &r->samples);
    int64_t mine[2] = {r->bytes, r->messages}, most[2];
    if (status)
        return status;
    PF_MPI(MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, active));
    r->bytes = most[0];
    r->messages = most[1];
    return status;
}

/* MPI's own collective; its refusal of a size is reported like a refusal of the library. */
static int run_bare(const struct bench *b, MPI_Comm group, MPI_Comm active, int p, long long bytes, const char *name,
                    struct result *r)
{
    struct bare_case bare = {name, group, p, bytes, b->s.warmup, b->s.reps};
    int status = pf_agree(bare_run(&bare, &r->samples), active);
    if (status == PF_REFUSED) {
        r->refused = true;
        snprintf(r->message, sizeof r->message, "%.500s", pf_message());
        return 0;
    }
    r->bytes = bytes * (p - 1);
    r->messages = p - 1;
    return status ? status : reduce(active, r);
}

static int run_case(const struct bench *b, MPI_Comm group, MPI_Comm active, int p, long long bytes, const char *exchange,
                    struct result *r)
{
    int status = samples_make(N_TIMES, b->s.reps, active, &r->samples);
    if (status)
        return status;
    if (bare_is_known(exchange))
        return run_bare(b, group, active, p, bytes, exchange, r);
    r->refused = !element_of(bytes);
    if (r->refused) {
        snprintf(r->message, sizeof r->message, "no array has messages of %lld bytes: take multiples of 4 from 4 on", bytes);
        return 0;
    }
    pencilfft_desc desc = describe(p, bytes, exchange);
    pencilfft_plan plan = NULL;
    status = pf_agree(pencilfft_plan_create(&desc, group, &plan), active);
    r->refused = status == PENCILFFT_NOT_POSSIBLE || status == PENCILFFT_TOO_LARGE || status == PENCILFFT_NO_MEMORY;
    if (r->refused) {
        snprintf(r->message, sizeof r->message, "%.500s", pf_message());
        status = 0;
        goto done;
    }
    if (status)
        goto done;
    const char *means = pencilfft_exchange_means(plan, PENCILFFT_ROW);
    snprintf(r->means, sizeof r->means, "%s", means ? means : "");
    if (!(status = time_plan(b, plan, group, (size_t)element_of(bytes), &r->samples)) && !(status = count_sent(plan, p, r)))
        status = reduce(active, r);
done:
    if (plan && status != PENCILFFT_MPI_ERROR)
        pencilfft_plan_destroy(plan);
    return status;
}

/* ---- output ------------------------------------------------------------------------------------------- */

static int append(const struct bench *b, int p, long long bytes, const char *exchange, const struct result *r)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING + 1];
    int status = mpi_library_line(library);
    if (status)
        return status;
    json_watch_memory();
    json_t *object = json_pack("{s:s, s:{s:s, s:s}, s:o, s:i, s:i, s:i, s:s, s:o, s:I, s:i, s:o, s:o, s:o, s:I, s:I}",
                               "schema", "pencilmap-transpose-bench/1", "program", "name", PROGRAM, "version",
                               PENCILFFT_VERSION, "mpi", text(library), "ranks", b->ranks, "group", p, "groups",
                               b->ranks / p, "exchange", exchange, "means", text_or_null(r->means), "message_bytes",
                               (json_int_t)bytes, "reps", b->s.reps, "refused", text_or_null(r->message), "exchange_times",
                               r->refused ? json_null() : record_times(&r->samples, EXCHANGE), "total_times",
                               r->refused ? json_null() : record_times(&r->samples, TOTAL), "bytes_sent",
                               (json_int_t)r->bytes, "messages_sent", (json_int_t)r->messages);
    return json_file_append(object, b->json);
}

static void print_head(const struct bench *b, int p)
{
    fprintf(b->table, "\n# %d group%s of %d ranks, %d repetitions; times of the exchange without packing, median\n",
            b->ranks / p, b->ranks / p > 1 ? "s" : "", p, b->s.reps);
    fprintf(b->table, "%10s %-11s %12s %12s %12s %12s %12s %8s\n", "#bytes", "exchange", "t_min[us]", "t_max[us]",
            "t_avg[us]", "packed[us]", "MB/s a rank", "ratio");
}

/* Ratio: to the first algorithm of the list. MB are 1e6 bytes of planned messages, without a rank's own part. */
static void print_line(const struct bench *b, int p, long long bytes, const char *exchange, const struct result *r,
                       double *first)
{
    if (r->refused) {
        fprintf(b->table, "%10lld %-11s refused: %.80s\n", bytes, exchange, r->message);
        return;
    }
    const struct samples *s = &r->samples;
    double most = samples_median(s->max, s, EXCHANGE), total = samples_median(s->max, s, TOTAL);
    if (*first == 0)
        *first = total;
    fprintf(b->table, "%10lld %-11s %12.2f %12.2f %12.2f %12.2f %12.2f %8.2f\n", bytes, exchange,
            1e6 * samples_median(s->min, s, EXCHANGE), 1e6 * most, 1e6 * samples_median(s->mean, s, EXCHANGE), 1e6 * total,
            most > 0 ? (double)(p - 1) * (double)bytes / most * 1e-6 : 0, *first > 0 ? total / *first : 0);
    fflush(b->table);
}

/* ---- all cases ---------------------------------------------------------------------------------------------- */

static int one_size(const struct bench *b, MPI_Comm group, MPI_Comm active, int p, long long bytes)
{
    int status = 0;
    double first = 0;
    for (int i = 0; i < b->s.n_exchanges && !status; i++) {
        struct result r = {.refused = false};
        status = run_case(b, group, active, p, bytes, b->s.exchanges[i], &r);
        if (!status && b->rank == 0) {
            status = b->json >= 0 ? append(b, p, bytes, b->s.exchanges[i], &r) : 0;
            print_line(b, p, bytes, b->s.exchanges[i], &r, &first);
        }
        samples_release(&r.samples);
        if (status != PENCILFFT_MPI_ERROR)
            status = pf_agree(status, active);
    }
    return status;
}

static int one_group_size(const struct bench *b, int p)
{
    MPI_Comm active = MPI_COMM_NULL, group = MPI_COMM_NULL;
    int status = 0, takes_part = b->rank < b->ranks / p * p;
    PF_MPI(MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, b->rank, &active));
    PF_MPI(MPI_Comm_split(MPI_COMM_WORLD, takes_part ? b->rank / p : MPI_UNDEFINED, b->rank, &group));
    if (b->rank == 0)
        print_head(b, p);
    for (int i = 0; i < b->s.n_bytes && takes_part && !status; i++)
        if (b->s.bytes[i] * p <= b->s.largest_bytes)
            status = one_size(b, group, active, p, b->s.bytes[i]);
    if (status == PENCILFFT_MPI_ERROR)
        return status;
    if (takes_part) {
        PF_MPI(MPI_Comm_free(&group));
        PF_MPI(MPI_Comm_free(&active));
    }
    status = pf_agree(status, MPI_COMM_WORLD);
    return status;
}

static int run(void *of, int rank, int ranks, int argc, char **argv)
{
    struct bench *b = of;
    b->rank = rank;
    b->ranks = ranks;
    int status = pf_agree(parse(argc, argv, ranks, &b->s), MPI_COMM_WORLD);
    if (!status && b->s.help) {
        if (rank == 0)
            print_help();
        return 0;
    }
    if (!status)
        status = side_program_open(b->s.json, rank, MPI_COMM_WORLD, &b->json);
    b->table = b->json == STDOUT_FILENO ? stderr : stdout;
    for (int i = 0; i < b->s.n_groups && !status; i++)
        status = one_group_size(b, (int)b->s.groups[i]);
    return status;
}

static void release(void *of)
{
    side_program_close(((struct bench *)of)->json);
}

int main(int argc, char **argv)
{
    struct bench b = {.json = -1};
    return side_program_main(&(struct side_program){PROGRAM, run, release, &b}, argc, argv);
}
