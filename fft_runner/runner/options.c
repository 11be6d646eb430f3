/* The command line.
 * One table has every option: its name, what follows it, its help, and the function that takes it. --help and the list
 * of known options are read from the table. Words that are not options go to the option before them while it still
 * wants some, so that `--size 128 128 128` works without touching getopt's state, which a simulator keeps for itself. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

enum { MAX_WORDS = 3 };

struct option_row {
    const char *name;
    const char *argument; /* NULL: none */
    int words;            /* how many words follow */
    int (*take)(struct options *options, const char *name, char *const *words);
    const char *help;
};

/* ---- values ------------------------------------------------------------------------------------------------- */

static int take_integer(const char *name, const char *text, long long low, long long high, long long *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (end == text || *end || errno || *value < low || *value > high)
        return pf_fail(RUNNER_ERROR, "--%s: '%.60s' is not an integer of %lld..%lld", name, text, low, high);
    return 0;
}

static int take_int(const char *name, const char *text, int low, int *value)
{
    long long wide = 0;
    int status = take_integer(name, text, low, INT_MAX, &wide);
    *value = (int)wide;
    return status;
}

static int take_size(struct options *o, const char *name, char *const *words)
{
    int64_t *extents[3] = {&o->fft.nx, &o->fft.ny, &o->fft.nz};
    for (int i = 0; i < 3; i++) {
        long long value;
        int status = take_integer(name, words[i], 1, INT_MAX, &value);
        if (status)
            return status;
        *extents[i] = value;
    }
    return 0;
}

static int take_grid(struct options *o, const char *name, char *const *words)
{
    char end;
    if (sscanf(words[0], "%9dx%9d%c", &o->fft.R, &o->fft.C, &end) != 2 || o->fft.R < 1 || o->fft.C < 1)
        return pf_fail(RUNNER_ERROR, "--%s: '%.60s' is not a grid; write RxC, R tasks in a row, C in a column", name,
                       words[0]);
    return 0;
}

static const struct direction {
    const char *name;
    pencilfft_direction direction;
} direction_rows[] = {
    {"forward", PENCILFFT_FORWARD},
    {"backward", PENCILFFT_BACKWARD},
};
static const struct pf_table directions = PF_TABLE("direction", direction_rows);

const char *direction_name(pencilfft_direction direction)
{
    return direction == PENCILFFT_BACKWARD ? "backward" : "forward";
}

static int take_direction(struct options *o, const char *name, char *const *words)
{
    (void)name;
    const struct direction *row = pf_table_find(&directions, words[0]);
    if (!row)
        return RUNNER_ERROR;
    o->direction = row->direction;
    o->has_direction = true;
    return 0;
}

/* Names the library looks up; it refuses those it does not know. */
static int take_exchange(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->fft.exchange = words[0];
    return 0;
}

static int take_rigor(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->fft.rigor = words[0];
    return 0;
}

static int take_sync(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->fft.sync = words[0];
    return 0;
}

static int take_type(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->fft.type = words[0];
    return 0;
}

static int take_kinds(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->fft.kinds = words[0];
    return 0;
}

static int take_skip(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->fft.skip = words[0];
    return 0;
}

static int take_precision(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->fft.precision = words[0];
    return 0;
}

static int take_layout(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->fft.layout = words[0];
    return 0;
}

static int take_in_place(struct options *o, const char *name, char *const *words)
{
    (void)name, (void)words;
    o->in_place = true;
    return 0;
}

static int take_fields(struct options *o, const char *name, char *const *words)
{
    return take_int(name, words[0], 1, &o->fft.fields);
}

static int take_reps(struct options *o, const char *name, char *const *words)
{
    return take_int(name, words[0], 1, &o->reps);
}

static int take_warmup(struct options *o, const char *name, char *const *words)
{
    return take_int(name, words[0], 0, &o->warmup);
}

static int take_verify(struct options *o, const char *name, char *const *words)
{
    (void)name, (void)words;
    o->verify = true;
    return 0;
}

static int take_barrier(struct options *o, const char *name, char *const *words)
{
    (void)name, (void)words;
    o->fft.sync = "barrier";
    return 0;
}

static int take_per_rank(struct options *o, const char *name, char *const *words)
{
    (void)name, (void)words;
    o->per_rank = true;
    return 0;
}

static int take_wisdom(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->wisdom = words[0];
    return 0;
}

static int take_byte_matrix(struct options *o, const char *name, char *const *words)
{
    if (o->n_matrices == MAX_MATRICES)
        return pf_fail(RUNNER_ERROR, "--%s: more than %d files", name, MAX_MATRICES);
    o->byte_matrices[o->n_matrices++] = words[0];
    return 0;
}

static int take_auto_budget(struct options *o, const char *name, char *const *words)
{
    char *end;
    double seconds = strtod(words[0], &end);
    if (end == words[0] || *end || !(seconds >= 0) || seconds > 1e6)
        return pf_fail(RUNNER_ERROR, "--%s: '%.60s' is not a number of seconds from 0 to 1000000", name, words[0]);
    o->fft.auto_budget_s = seconds;
    return 0;
}

static int take_json(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->json = words[0];
    return 0;
}

static int take_label(struct options *o, const char *name, char *const *words)
{
    const char *equals = strchr(words[0], '=');
    if (!equals || equals == words[0])
        return pf_fail(RUNNER_ERROR, "--%s: '%.60s' is not key=value", name, words[0]);
    if (o->n_labels == MAX_LABELS)
        return pf_fail(RUNNER_ERROR, "--%s: more than %d labels", name, MAX_LABELS);
    o->labels[o->n_labels++] = words[0];
    return 0;
}

static int take_torus(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->torus_text = words[0];
    o->placement.has_torus = true;
    return torus_parse(words[0], &o->placement.torus);
}

static int take_tasks_per_node(struct options *o, const char *name, char *const *words)
{
    return take_int(name, words[0], 1, &o->placement.tasks_per_node);
}

static int take_mapfile(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->placement.mapfile = words[0];
    return 0;
}

static int take_launch_order(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->placement.launch_order = words[0];
    return 0;
}

static int take_coordinates(struct options *o, const char *name, char *const *words)
{
    (void)name;
    o->placement.coordinates = words[0];
    return pf_table_find(&coordinate_sources, words[0]) ? 0 : RUNNER_ERROR;
}

static int take_help(struct options *o, const char *name, char *const *words)
{
    (void)name, (void)words;
    o->help = true;
    return 0;
}

static int take_version(struct options *o, const char *name, char *const *words)
{
    (void)name, (void)words;
    o->version = true;
    return 0;
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    {"size", "NX NY NZ", 3, take_size, "extents of the array (required)"},
    {"grid", "RxC", 1, take_grid, "process grid: R tasks in a row, C in a column (required)"},
    {"direction", "NAME", 1, take_direction, "forward (default) or backward; c2r is backward"},
    {"type", "NAME", 1, take_type, "transform: @type"},
    {"kinds", "X,Y,Z", 1, take_kinds, "of dct and dst, 1 to 4 an axis (default 2,2,2); c1 or s1 mixes them"},
    {"skip", "AXES", 1, take_skip, "leave axes alone: x, y, xy, ..."},
    {"precision", "NAME", 1, take_precision, "@precision"},
    {"layout", "NAME", 1, take_layout, "memory order of X pencils, x y z or z y x: @layout"},
    {"in-place", NULL, 0, take_in_place, "output takes the place of the input"},
    {"fields", "N", 1, take_fields, "arrays transformed together (default 1)"},
    {"exchange", "NAME", 1, take_exchange, "algorithm of the two exchanges: @exchange"},
    {"auto-budget", "SECONDS", 1, take_auto_budget, "how long auto may try the others (default 10)"},
    {"reps", "N", 1, take_reps, "timed repetitions (default 10)"},
    {"warmup", "N", 1, take_warmup, "repetitions before them (default 2)"},
    {"verify", NULL, 0, take_verify, "first check moved data, a serial FFTW and a direct sum"},
    {"json", "FILE", 1, take_json, "append the run record, one line; - is standard output"},
    {"label", "KEY=VALUE", 1, take_label, "put into the record; may be repeated"},
    {"rigor", "NAME", 1, take_rigor, "FFTW planning: @rigor"},
    {"sync", "NAME", 1, take_sync, "what precedes each exchange: @sync"},
    {"barrier", NULL, 0, take_barrier, "the same as --sync barrier; its waiting is a phase of its own"},
    {"per-rank", NULL, 0, take_per_rank, "times of every rank into the record"},
    {"byte-matrix", "FILE", 1, take_byte_matrix,
     "who sends whom how much; row=FILE, column=FILE; .grf: Scotch's; may be repeated"},
    {"wisdom", "FILE", 1, take_wisdom, "plan with what FFTW and auto learnt before, and keep it there"},
    {"machine-torus", "TEXT", 1, take_torus, "8x8x8 (wrapped), 8x8x8:mesh, 8wx8x4w (w: wrapped)"},
    {"tasks-per-node", "T", 1, take_tasks_per_node, "slots of a node (default: as few as hold all)"},
    {"mapfile", "FILE", 1, take_mapfile, "line i places grid rank i: x y z t"},
    {"launch-order", "LETTERS", 1, take_launch_order, "how assumed coordinates run, fastest first (default xyzt)"},
    {"coordinates", "SOURCE", 1, take_coordinates, "auto (default), hostname, blue-gene, assumed"},
    {"help", NULL, 0, take_help, "print this and end"},
    {"version", NULL, 0, take_version, "print versions and end"},
};
enum { N_ROWS = sizeof rows / sizeof rows[0], FIRST_VALUE = 256, WORD = 1 };

static const struct pf_table option_table = PF_TABLE("option", rows);

static void print_names(const char *(*name)(int))
{
    for (int i = 0; name(i); i++)
        printf("%s%s", i ? ", " : "", name(i));
}

/* Help text; @table stands for the names in a table of the library. */
static void print_help_text(const char *help)
{
    static const struct {
        const char *mark;
        const char *(*name)(int);
    } tables[] = {{"@exchange", pencilfft_exchange_name}, {"@rigor", pencilfft_rigor_name},
                  {"@type", pencilfft_type_name},         {"@precision", pencilfft_precision_name},
                  {"@layout", pencilfft_layout_name},     {"@sync", pencilfft_sync_name}};
    int length = (int)strcspn(help, "@");
    printf("%.*s", length, help);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (!strcmp(help + length, tables[i].mark))
            print_names(tables[i].name);
    printf("\n");
}

void options_print_help(void)
{
    printf("Pencil-decomposed 3D FFT over MPI: run, verify, time every phase.\n\n"
           "  mpirun -n 8 fft_runner --size 128 128 128 --grid 2x4 --verify --json out.jsonl\n\n");
    for (int i = 0; i < N_ROWS; i++) {
        char left[64];
        snprintf(left, sizeof left, "--%s %s", rows[i].name, rows[i].argument ? rows[i].argument : "");
        printf("  %-24s ", left);
        print_help_text(rows[i].help);
    }
    printf("\nThe exit status is 0 only when everything asked for was done and verified.\n");
}

/* ---- parsing ------------------------------------------------------------------------------------------------ */

struct pending {
    const struct option_row *row; /* option whose words are being gathered; NULL: none */
    char *words[MAX_WORDS];
    int n;
};

static int finish_if_full(struct pending *p, struct options *o)
{
    if (!p->row || p->n < p->row->words)
        return 0;
    const struct option_row *row = p->row;
    p->row = NULL;
    return row->take(o, row->name, p->words);
}

static int take_word(struct pending *p, struct options *o, char *word)
{
    if (!p->row)
        return pf_fail(RUNNER_ERROR, "'%.60s' belongs to no option; see --help", word);
    p->words[p->n++] = word;
    return finish_if_full(p, o);
}

static int check_complete(const struct pending *p)
{
    if (!p->row)
        return 0;
    return pf_fail(RUNNER_ERROR, "--%s needs %d words: %s", p->row->name, p->row->words, p->row->argument);
}

static int start_option(struct pending *p, struct options *o, const struct option_row *row)
{
    int status = check_complete(p);
    if (status)
        return status;
    *p = (struct pending){.row = row};
    return optarg ? take_word(p, o, optarg) : finish_if_full(p, o);
}

static int refuse_option(int code, const char *word)
{
    if (code == ':')
        return pf_fail(RUNNER_ERROR, "%.60s needs a value; see --help", word);
    char name[64] = "";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    char bare[64];
    snprintf(bare, sizeof bare, "%s", name + strspn(name, "-"));
    if (pf_table_find(&option_table, bare))
        return pf_fail(RUNNER_ERROR, "%s takes no value", name);
    return RUNNER_ERROR;
}

static void fill_long_options(struct option *options)
{
    for (int i = 0; i < N_ROWS; i++)
        options[i] = (struct option){rows[i].name, rows[i].words ? required_argument : no_argument, NULL, FIRST_VALUE + i};
    options[N_ROWS] = (struct option){NULL, 0, NULL, 0};
}

/* c2r is r2c backward, and nothing else. */
static int settle_direction(struct options *o)
{
    if (!strcmp(o->fft.type, "c2r")) {
        if (o->has_direction && o->direction == PENCILFFT_FORWARD)
            return pf_fail(RUNNER_ERROR, "--type c2r is backward; say r2c for forward");
        o->direction = PENCILFFT_BACKWARD;
    }
    o->fft.directions = o->direction;
    return 0;
}

static int check_options(struct options *o)
{
    if (o->help || o->version)
        return 0;
    if (!o->fft.nx)
        return pf_fail(RUNNER_ERROR, "--size NX NY NZ is required; see --help");
    if (!o->fft.R)
        return pf_fail(RUNNER_ERROR, "--grid RxC is required; see --help");
    return settle_direction(o);
}

static void set_defaults(struct options *o)
{
    *o = (struct options){.direction = PENCILFFT_FORWARD, .reps = 10, .warmup = 2};
    pencilfft_desc_init(&o->fft);
    o->placement.coordinates = "auto";
}

int options_parse(int argc, char **argv, struct options *o)
{
    struct option long_options[N_ROWS + 1];
    struct pending pending = {.row = NULL};
    int code, status = 0;
    set_defaults(o);
    fill_long_options(long_options);
    opterr = 0;
    while (!status && (code = getopt_long(argc, argv, "-:", long_options, NULL)) != -1) {
        if (code >= FIRST_VALUE)
            status = start_option(&pending, o, &rows[code - FIRST_VALUE]);
        else if (code == WORD)
            status = take_word(&pending, o, optarg);
        else
            status = refuse_option(code, argv[optind - 1]);
    }
    if (!status)
        status = check_complete(&pending);
    return status ? status : check_options(o);
}
