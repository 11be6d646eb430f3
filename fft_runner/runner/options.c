/* The command line. A table has every option: its name, its words, its help, and its reader. Most options set a member of
 * the library's descriptor or of struct options, named in the row. --help and the list of known options are read from the
 * table. Words that are not options belong to the preceding option that still needs words, so `--size 128 128 128` works
 * without touching getopt's state, which the simulator uses itself. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "json_values.h"
#include "pencilfft_line.h"
#include "runner.h"

enum { MAX_WORDS = 3 };

struct option_row;
typedef int (*taker)(struct options *options, const struct option_row *row, char *const *words);

struct option_row {
    const char *name;
    const char *argument; /* NULL: none */
    int words;            /* most words that follow */
    taker take;
    const char *member; /* of the descriptor, for take_desc_...() */
    size_t at;          /* of the member of struct options, for take_flag(), take_text() and take_count() */
    int least;          /* value allowed */
    const char *help;
};

/* ---- values ------------------------------------------------------------------------------------------------- */

static int read_integer(const struct option_row *row, const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long wide = strtoll(text, &end, 10);
    *value = wide;
    if (end == text || *end || errno || wide < row->least || wide > INT_MAX)
        return pf_fail(PF_REFUSED, "--%s: '%.60s' is not an integer of %d..%d", row->name, text, row->least, INT_MAX);
    return 0;
}

static int take_flag(struct options *o, const struct option_row *row, char *const *words)
{
    (void)words;
    *(bool *)((char *)o + row->at) = true;
    return 0;
}

static int take_text(struct options *o, const struct option_row *row, char *const *words)
{
    *(const char **)((char *)o + row->at) = words[0];
    return 0;
}

static int take_count(struct options *o, const struct option_row *row, char *const *words)
{
    int64_t value = 0;
    int status = read_integer(row, words[0], &value);
    *(int *)((char *)o + row->at) = (int)value;
    return status;
}

/* The library looks up names, and refuses unknown names. */
static int take_desc_text(struct options *o, const struct option_row *row, char *const *words)
{
    return pencilfft_desc_set_text(&o->fft, row->member, words[0]);
}

static int take_desc_count(struct options *o, const struct option_row *row, char *const *words)
{
    int64_t value = 0;
    int status = read_integer(row, words[0], &value);
    return status ? status : pencilfft_desc_set_integer(&o->fft, row->member, value);
}

static int read_seconds(const struct option_row *row, const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    if (end == text || *end || !(*seconds >= row->least) || *seconds > 1e6)
        return pf_fail(PF_REFUSED, "--%s: '%.60s' is not a number of seconds from %d to 1000000", row->name, text,
                       row->least);
    return 0;
}

static int take_desc_seconds(struct options *o, const struct option_row *row, char *const *words)
{
    double seconds;
    int status = read_seconds(row, words[0], &seconds);
    return status ? status : pencilfft_desc_set_real(&o->fft, row->member, seconds);
}

static int take_time_limit(struct options *o, const struct option_row *row, char *const *words)
{
    return read_seconds(row, words[0], &o->time_limit_s);
}

static int take_size(struct options *o, const struct option_row *row, char *const *words)
{
    int64_t *extents[3] = {&o->fft.nx, &o->fft.ny, &o->fft.nz};
    int status = 0;
    for (int i = 0; i < 3 && words[i] && !status; i++)
        status = read_integer(row, words[i], extents[i]);
    return status;
}

static int take_padded(struct options *o, const struct option_row *row, char *const *words)
{
    int64_t *points[3] = {&o->fft.padded_nx, &o->fft.padded_ny, &o->fft.padded_nz};
    int status = 0;
    for (int i = 0; i < 3 && !status; i++)
        status = read_integer(row, words[i], points[i]);
    return status;
}

static int take_grid(struct options *o, const struct option_row *row, char *const *words)
{
    if (grid_parse(words[0], &o->grid) || o->grid.dims > 2)
        return pf_fail(PF_REFUSED,
                       "--%s: '%.60s' is not a grid; write RxC, R tasks in a row, C in a column; or P, the tasks of slabs",
                       row->name, words[0]);
    o->fft.R = o->grid.dims > 1 ? o->grid.extent[0] : 1;
    o->fft.C = o->grid.extent[o->grid.dims - 1];
    return 0;
}

static const struct direction {
    const char *name;
    pencilfft_direction direction;
    bool pair;
} direction_rows[] = {
    {"forward", PENCILFFT_FORWARD, false},
    {"backward", PENCILFFT_BACKWARD, false},
    {"pair", PENCILFFT_FORWARD, true},
};
static const struct pf_table directions = PF_TABLE("direction", direction_rows);

const char *direction_name(const struct options *o)
{
    int i = 0;
    while (direction_rows[i].direction != o->direction || direction_rows[i].pair != o->pair)
        i++;
    return direction_rows[i].name;
}

static int take_direction(struct options *o, const struct option_row *option, char *const *words)
{
    (void)option;
    const struct direction *row = pf_table_find(&directions, words[0]);
    if (!row)
        return PF_REFUSED;
    o->direction = row->direction;
    o->pair = row->pair;
    o->has_direction = true;
    return 0;
}

static int take_threads(struct options *o, const struct option_row *row, char *const *words)
{
    int64_t value = PENCILFFT_OMP_THREADS;
    int status = strcmp(words[0], "omp") ? read_integer(row, words[0], &value) : 0;
    o->fft.threads = (int)value;
    return status;
}

static int take_barrier(struct options *o, const struct option_row *row, char *const *words)
{
    (void)row, (void)words;
    o->fft.sync = "barrier";
    return 0;
}

static int take_destroy(struct options *o, const struct option_row *row, char *const *words)
{
    (void)row, (void)words;
    o->fft.destroy_input = 1;
    return 0;
}

static int take_byte_matrix(struct options *o, const struct option_row *row, char *const *words)
{
    if (o->n_matrices == MAX_MATRICES)
        return pf_fail(PF_REFUSED, "--%s: more than %d files", row->name, MAX_MATRICES);
    o->byte_matrices[o->n_matrices++] = words[0];
    return 0;
}

static int take_label(struct options *o, const struct option_row *row, char *const *words)
{
    if (!is_label(words[0]))
        return pf_fail(PF_REFUSED, "--%s: '%.60s' is not key=value", row->name, words[0]);
    if (o->n_labels == MAX_LABELS)
        return pf_fail(PF_REFUSED, "--%s: more than %d labels", row->name, MAX_LABELS);
    o->labels[o->n_labels++] = words[0];
    return 0;
}

static int take_torus(struct options *o, const struct option_row *row, char *const *words)
{
    (void)row;
    o->torus_text = words[0];
    o->seats.has_torus = true;
    return torus_parse(words[0], &o->seats.torus);
}

static int take_coordinates(struct options *o, const struct option_row *row, char *const *words)
{
    (void)row;
    o->seats.where = words[0];
    return source_check(words[0]);
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

#define AT(member) .at = offsetof(struct options, member)

/* In help texts @name stands for the names in a table; see print_help_text(). */
static const struct option_row rows[] = {
    {"size", "NX NY NZ", 3, take_size, .least = 1, .help = "extents of the array (required); N of a line"},
    {"grid", "RxC", 1, take_grid,
     .help = "process grid: R tasks in a row, C in a column; P tasks of slabs; chosen, or tried by auto, without it"},
    {"decomposition", "NAME", 1, take_desc_text, "decomposition",
     .help = "how the array is divided; brick:PxQxS is remapped to pencils; line: one array of N: @decomposition"},
    {"algorithm", "NAME", 1, take_text, AT(algorithm),
     .help = "algorithm of decomposition line, or of lines on bricks: @algorithm"},
    {"order", "NAME", 1, take_text, AT(order), .help = "where the points of a line are after its transform: @order"},
    {"input-boxes", "FILE", 1, take_text, AT(boxes[0]),
     .help = "line i: box of grid rank i before a forward transform, x y z and extents"},
    {"output-boxes", "FILE", 1, take_text, AT(boxes[1]), .help = "the same after a forward transform"},
    {"direction", "NAME", 1, take_direction,
     .help = "forward (default), backward, or pair: one of each at once; c2r is backward"},
    {"type", "NAME", 1, take_desc_text, "type",
     .help = "transform: kinds along x,y,z such as dct1,c2c,r2c or none, or a short name: @type"},
    {"kinds", "X,Y,Z", 1, take_desc_text, "kinds",
     .help = "for dct and dst, 1 to 4 per axis (default 2,2,2); c1 or s1 mixes them"},
    {"skip", "AXES", 1, take_desc_text, "skip", .help = "axes that are not transformed: x, y, xy, ..."},
    {"padded", "MX MY MZ", 3, take_padded,
     .help = "points along x, y and z, more than the modes NX NY NZ that are kept (3/2 rule); 0: as many"},
    {"precision", "NAME", 1, take_desc_text, "precision", .help = "@precision"},
    {"exchange-precision", "P", 1, take_desc_text, "exchange_precision",
     .help = "single: exchanges of precision double send floats; the default is the precision"},
    {"layout", "NAME", 1, take_desc_text, "layout", .help = "memory order of the output, x y z or with x fastest: @layout"},
    {"in-place", NULL, 0, take_flag, AT(in_place), .help = "write the output over the input"},
    {"destroy-input", NULL, 0, take_destroy, .help = "a run into another buffer may overwrite its input, as work space"},
    {"fields", "N", 1, take_desc_count, "fields", .least = 1, .help = "arrays transformed together (default 1)"},
    {"threads", "T", 1, take_threads, .least = 1,
     .help = "OpenMP threads that share the work of a rank (default 1); omp: as OMP_NUM_THREADS says"},
    {"exchange", "NAME", 1, take_desc_text, "exchange", .help = "algorithm of the exchanges: @exchange"},
    {"schedule", "TEXT", 1, take_desc_text, "schedule",
     .help = "sequence (default), overlap:K, pipelined, two-way, opposite: what runs beside what, see pencilfft.h"},
    {"auto-budget", "SECONDS", 1, take_desc_seconds, "auto_budget_s",
     .help = "how long auto may try alternatives (default 3)"},
    {"reps", "N", 1, take_count, AT(reps), .least = 1, .help = "timed repetitions (default 10)"},
    {"warmup", "N", 1, take_count, AT(warmup), .help = "untimed repetitions before them (default 2)"},
    {"halo", "W", 1, take_count, AT(halo), .least = 1,
     .help = "also time the halo of W planes around what a forward transform takes"},
    {"time-limit", "SECONDS", 1, take_time_limit, .least = 1,
     .help = "end all ranks after that time; say which rank was stopped where, also if one is killed"},
    {"verify", NULL, 0, take_flag, AT(verify),
     .help = "first check the moved data, and the result by a serial FFTW and a direct sum"},
    {"json", "FILE", 1, take_text, AT(json), .help = "append the run record, one line; - is standard output"},
    {"label", "KEY=VALUE", 1, take_label, .help = "add this label to the record; may be repeated"},
    {"rigor", "NAME", 1, take_desc_text, "rigor", .help = "FFTW planning: @rigor"},
    {"sync", "NAME", 1, take_desc_text, "sync", .help = "what precedes each exchange: @sync"},
    {"barrier", NULL, 0, take_barrier, .help = "the same as --sync barrier; the waiting is a separate phase"},
    {"per-rank", NULL, 0, take_flag, AT(per_rank), .help = "write the times of every rank to the record"},
    {"print-plan", NULL, 0, take_flag, AT(print_plan), .help = "print what the plan of rank 0 does"},
    {"byte-matrix", "FILE", 1, take_byte_matrix,
     .help = "write the bytes from each rank to each other; STAGE=FILE: of one exchange; .grf: as Scotch's graph; may be "
             "repeated"},
    {"wisdom", "FILE", 1, take_text, AT(wisdom),
     .help = "plan with what FFTW and auto learnt before, and save what they learn"},
    {"machine-torus", "TEXT", 1, take_torus,
     .help = "8x8x8 (wrapped), 8x8x8:mesh, 8wx8x4w (w: wrapped); :axes=abc renames the axes"},
    {"tasks-per-node", "T", 1, take_count, AT(seats.tasks_per_node), .least = 1,
     .help = "slots per node (default: as few as hold all)"},
    {"mapfile", "FILE", 1, take_text, AT(mapfile), .help = "line i places grid rank i: x y z t"},
    {"launch-order", "LETTERS", 1, take_text, AT(seats.order),
     .help = "order of assumed coordinates, fastest first (default tn)"},
    {"coordinates", "SOURCE", 1, take_coordinates, .help = "how a process knows its node: @coordinates"},
    {"help", NULL, 0, take_flag, AT(help), .help = "print this and exit"},
    {"version", NULL, 0, take_flag, AT(version), .help = "print versions and exit"},
};
enum { N_ROWS = sizeof rows / sizeof rows[0], FIRST_VALUE = 256, WORD = 1 };

static const struct pf_table option_table = PF_TABLE("option", rows);

static void print_names(const char *(*name)(int))
{
    for (int i = 0; name(i); i++)
        printf("%s%s", i ? ", " : "", name(i));
}

/* Help text; @table stands for the names in a table. */
static void print_help_text(const char *help)
{
    static const struct {
        const char *mark;
        const char *(*name)(int);
    } tables[] = {{"@decomposition", pencilfft_decomposition_name},
                  {"@algorithm", pencilfft_line_algorithm_name},
                  {"@order", pencilfft_line_order_name},
                  {"@exchange", pencilfft_exchange_name},
                  {"@rigor", pencilfft_rigor_name},
                  {"@type", pencilfft_type_name},
                  {"@precision", pencilfft_precision_name},
                  {"@layout", pencilfft_layout_name},
                  {"@sync", pencilfft_sync_name},
                  {"@coordinates", source_usage}};
    int length = (int)strcspn(help, "@");
    printf("%.*s", length, help);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (!strcmp(help + length, tables[i].mark))
            print_names(tables[i].name);
    printf("\n");
}

void options_print_help(void)
{
    printf("3D FFT over MPI by pencils, slabs or bricks: run, verify, time every phase.\n\n"
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
    const struct option_row *row; /* option whose words are being gathered, or NULL */
    char *words[MAX_WORDS];
    int n;
};

static int finish_if_full(struct pending *p, struct options *o)
{
    if (!p->row || p->n < p->row->words)
        return 0;
    const struct option_row *row = p->row;
    p->row = NULL;
    return row->take(o, row, p->words);
}

static int take_word(struct pending *p, struct options *o, char *word)
{
    if (!p->row)
        return pf_fail(PF_REFUSED, "'%.60s' does not belong to any option; see --help", word);
    p->words[p->n++] = word;
    return finish_if_full(p, o);
}

static int check_complete(struct pending *p, struct options *o)
{
    if (!p->row)
        return 0;
    if (p->row->take == take_size && p->n > 0) { /* of a line: a single number; check_options() counts the numbers */
        const struct option_row *row = p->row;
        p->row = NULL;
        return row->take(o, row, p->words);
    }
    return pf_fail(PF_REFUSED, "--%s needs %d words: %s", p->row->name, p->row->words, p->row->argument);
}

static int start_option(struct pending *p, struct options *o, const struct option_row *row)
{
    int status = check_complete(p, o);
    if (status)
        return status;
    *p = (struct pending){.row = row};
    return optarg ? take_word(p, o, optarg) : finish_if_full(p, o);
}

static int refuse_option(int code, const char *word)
{
    if (code == ':')
        return pf_fail(PF_REFUSED, "%.60s needs a value; see --help", word);
    char name[64] = "";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    char bare[64];
    snprintf(bare, sizeof bare, "%s", name + strspn(name, "-"));
    if (pf_table_find(&option_table, bare))
        return pf_fail(PF_REFUSED, "%s takes no value", name);
    return PF_REFUSED;
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
            return pf_fail(PF_REFUSED, "--type c2r is backward; use r2c for forward and for pairs");
        o->direction = PENCILFFT_BACKWARD;
    }
    o->fft.directions = o->pair ? PENCILFFT_FORWARD | PENCILFFT_BACKWARD : (int)o->direction;
    return 0;
}

bool is_one_line(const struct options *o)
{
    return !strcmp(o->fft.decomposition, "line");
}

bool runs_lines(const struct options *o)
{
    return is_one_line(o) || ((o->algorithm || o->order) && !strncmp(o->fft.decomposition, "brick", 5));
}

static const char *const usual_exchange = "alltoallv"; /* a run measures a named algorithm */

/* Lines accept only their own options. */
static int check_lines(const struct options *o)
{
    pencilfft_desc usual;
    pencilfft_desc_init(&usual);
    const struct {
        const char *name;
        bool given;
    } others[] = {{"type", strcmp(o->fft.type, usual.type) != 0},
                  {"kinds", o->fft.kinds},
                  {"skip", o->fft.skip},
                  {"exchange-precision", o->fft.exchange_precision},
                  {"padded", o->fft.padded_nx || o->fft.padded_ny || o->fft.padded_nz},
                  {"layout", strcmp(o->fft.layout, usual.layout) != 0},
                  {"exchange", strcmp(o->fft.exchange, usual_exchange) != 0},
                  {"schedule", o->fft.schedule},
                  {"threads", o->fft.threads != usual.threads},
                  {"destroy-input", o->fft.destroy_input},
                  {"input-boxes", o->boxes[0]},
                  {"output-boxes", o->boxes[1]},
                  {"direction pair", o->pair},
                  {"per-rank", o->per_rank},
                  {"halo", o->halo > 0},
                  {"print-plan", o->print_plan},
                  {"byte-matrix", o->n_matrices > 0},
                  {"wisdom", o->wisdom}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].given)
            return pf_fail(PF_REFUSED, "--%s is not for decomposition line%s; leave it out", others[i].name,
                           is_one_line(o) ? "" : ", nor for bricks with --algorithm or --order");
    return 0;
}

static int check_line(struct options *o)
{
    int status = check_lines(o);
    if (status)
        return status;
    if (o->fft.ny)
        return pf_fail(PF_REFUSED, "--size: a line has one extent, N; give --size %lld", (long long)o->fft.nx);
    if (o->fft.R && o->grid.dims != 1)
        return pf_fail(PF_REFUSED, "--grid: decomposition line has a grid of one number, P, all ranks; or leave it out");
    o->fft.ny = o->fft.nz = 1;
    return 0;
}

/* Bricks on which lines run. */
static int check_brick_lines(struct options *o)
{
    int status = check_lines(o), end = 0;
    if (status)
        return status;
    if (sscanf(o->fft.decomposition, "brick:%dx%dx%d%n", &o->bricks[0], &o->bricks[1], &o->bricks[2], &end) != 3 ||
        o->fft.decomposition[end])
        return pf_fail(PF_REFUSED, "--decomposition %.60s: lines run on bricks of a given grid; write brick:PxQxS",
                       o->fft.decomposition);
    if (!o->fft.nz)
        return pf_fail(PF_REFUSED, "--size needs 3 words: NX NY NZ; NZ is 1 for two dimensions");
    if (o->fft.R)
        return pf_fail(PF_REFUSED, "--grid: bricks with --algorithm have no pencils between them; leave it out");
    return 0;
}

static int check_options(struct options *o)
{
    if (o->help || o->version)
        return 0;
    if (!o->fft.nx)
        return pf_fail(PF_REFUSED, "--size NX NY NZ is required; see --help");
    if (is_one_line(o))
        return check_line(o);
    if (runs_lines(o))
        return check_brick_lines(o);
    if (o->algorithm || o->order)
        return pf_fail(PF_REFUSED, "--%s is for --decomposition line or brick:PxQxS", o->algorithm ? "algorithm" : "order");
    if (!o->fft.nz)
        return pf_fail(PF_REFUSED, "--size needs 3 words: NX NY NZ");
    int numbers = pencilfft_grid_numbers(o->fft.decomposition); /* 0 for a name that the library will refuse */
    if (numbers && o->fft.R && numbers != o->grid.dims)
        return pf_fail(PF_REFUSED, "--grid: decomposition %s has a grid of %s; %d %s given", o->fft.decomposition,
                       numbers == 1 ? "one number, P" : "two numbers, RxC", o->grid.dims,
                       o->grid.dims == 1 ? "was" : "were");
    return settle_direction(o);
}

static void set_defaults(struct options *o)
{
    *o = (struct options){.direction = PENCILFFT_FORWARD, .reps = 10, .warmup = 2};
    pencilfft_desc_init(&o->fft);
    o->fft.exchange = usual_exchange;
    o->seats.may_assume = true;
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
        status = check_complete(&pending, o);
    return status ? status : check_options(o);
}
