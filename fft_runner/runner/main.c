/* fft_runner: place the ranks, plan, verify, time, report. Every step fails on all ranks or on none (failure.c); only this
 * file prints the message. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/names.h"
#include "json_values.h"
#include "line_run.h"
#include "runner.h"

struct run {
    struct options options;
    struct processes processes;
    struct problem problem, beside; /* the second of a pair, if there is a pair */
    struct verification verification;
    struct samples samples;
    struct halo_run halo;
    struct traffic traffic;
    struct warnings warnings;
    int wisdom_found;
    int record; /* file descriptor, or -1 */
    char node[COORDINATE_TEXT]; /* for the descriptor */
    pencilfft_box boxes[2];
    char decomposition[64]; /* with the chosen bricks */
};

static int open_record(struct run *run)
{
    int status = 0;
    if (run->options.json && run->processes.seating.rank == 0) {
        run->record = json_file_open(run->options.json);
        status = run->record < 0 ? PF_REFUSED : 0;
    }
    return pf_agree(status, run->processes.seating.comm);
}

/* Print the places of the ranks, if known. */
static void tell_places(struct run *run)
{
    const struct seating *s = &run->processes.seating;
    if (s->source < 0)
        return;
    for (int i = 0, used = 0; i < s->mine.node.dims; i++)
        used += snprintf(run->node + used, sizeof run->node - (size_t)used, "%d ", s->mine.node.at[i]);
    run->options.fft.torus = run->options.torus_text;
    run->options.fft.node = run->node;
}

static int make_one(const struct run *run, pencilfft_plan plan, pencilfft_direction direction, struct problem *p)
{
    int status = problem_make(plan, run->processes.seating.comm, p);
    p->direction = direction;
    p->refill = run->options.in_place || run->options.fft.destroy_input;
    p->out = run->options.in_place ? p->in : p->other;
    return status;
}

static int read_boxes(struct run *run)
{
    static const char *const option[2] = {"input-boxes", "output-boxes"};
    const pencilfft_box **member[2] = {&run->options.fft.input_box, &run->options.fft.output_box};
    int status = 0;
    for (int end = 0; end < 2 && !status; end++) {
        if (!run->options.boxes[end])
            continue;
        status = boxes_read(run->options.boxes[end], option[end], run->processes.seating.comm, &run->boxes[end]);
        *member[end] = &run->boxes[end];
    }
    return status;
}

/* The plan's choices: grid and bricks. */
static int take_choices(struct run *run)
{
    struct options *o = &run->options;
    int bricks[3] = {0}, R, C, status = pencilfft_grid(run->problem.plan, &R, &C);
    if (!status)
        status = pencilfft_bricks(run->problem.plan, bricks);
    if (!status && pencilfft_grid_numbers(o->fft.decomposition) == 1)
        o->grid = (struct grid){.dims = 1, .extent = {C}, .letters = "s"};
    else if (!status)
        o->grid = (struct grid){.dims = 2, .extent = {R, C}, .letters = "rc"};
    if (status || !bricks[0])
        return status;
    snprintf(run->decomposition, sizeof run->decomposition, "brick:%dx%dx%d", bricks[0], bricks[1], bricks[2]);
    o->fft.decomposition = run->decomposition;
    return status;
}

static int make_problem(struct run *run)
{
    struct problem *p = &run->problem;
    MPI_Comm grid = run->processes.seating.comm;
    const char *wisdom = run->options.wisdom;
    int status = wisdom ? pencilfft_wisdom_load(wisdom, grid, &run->wisdom_found) : 0;
    tell_places(run);
    if (!status)
        status = read_boxes(run);
    if (!status)
        status = pencilfft_plan_create(&run->options.fft, grid, &p->plan);
    if (!status)
        status = take_choices(run);
    if (!status && wisdom)
        status = pencilfft_wisdom_save(wisdom, grid);
    if (!status)
        status = make_one(run, p->plan, run->options.direction, p);
    if (!status && run->options.pair) {
        status = make_one(run, p->plan, PENCILFFT_BACKWARD, &run->beside);
        p->beside = &run->beside;
        run->beside.beside = p;
    }
    return status;
}

static int report(struct run *run, int argc, char **argv)
{
    int status = 0;
    struct report r = {
        .argc = argc,
        .argv = argv,
        .options = &run->options,
        .processes = &run->processes,
        .verification = run->options.verify ? &run->verification : NULL,
        .samples = &run->samples,
        .halo = &run->halo,
        .traffic = &run->traffic,
        .warnings = &run->warnings,
        .plan = run->problem.plan,
        .wisdom_found = run->wisdom_found,
    };
    if (run->processes.seating.rank == 0)
        status = warnings_find(run->processes.table, run->processes.seating.ranks, &run->warnings);
    if (run->processes.seating.rank == 0 && !status) {
        report_warnings(&run->warnings, stderr);
        report_table(&r, run->record == STDOUT_FILENO ? stderr : stdout);
        status = run->record >= 0 ? record_append(&r, run->record) : 0;
    }
    return pf_agree(status, run->processes.seating.comm);
}

static int verdict(const struct run *run)
{
    const struct verification *v = &run->verification;
    if (!run->options.verify || v->passed)
        return 0;
    return pf_fail(PF_REFUSED,
                   "verification failed: moved data %s; error %.3g to serial FFTW, %.3g to the direct sum; "
                   "allowed %.3g",
                   v->moved_data_exact ? "exact" : "wrong", v->error_fftw, v->error_direct, v->tolerance);
}

static int run_all(struct run *run, int argc, char **argv)
{
    const struct options *o = &run->options;
    watch_mark("the seating of the ranks", 0);
    int status = processes_seat(&o->seats, o->mapfile, &run->processes);
    if (!status)
        status = open_record(run);
    watch_mark("planning", 0);
    if (!status && runs_lines(o))
        return line_run(o, &run->processes, argc, argv, run->record);
    if (!status)
        status = make_problem(run);
    watch_mark("the verification", 0);
    if (!status && o->verify)
        status = verify(&run->problem, &run->verification);
    if (!status)
        status = measure(&run->problem, &(struct measure_request){o->warmup, o->reps, o->per_rank}, &run->samples);
    if (!status && o->halo)
        status = halo_run(&run->problem, o, &run->halo);
    watch_mark("the report", 0);
    if (!status)
        status = traffic_gather(&run->problem, &run->traffic);
    for (int i = 0; i < o->n_matrices && !status; i++)
        status = traffic_write_matrix(&run->problem, o->byte_matrices[i]);
    if (!status)
        status = report(run, argc, argv);
    return status ? status : verdict(run);
}

static int release(struct run *run)
{
    int status = pencilfft_plan_destroy(run->problem.plan);
    samples_release(&run->samples);
    halo_run_release(&run->halo);
    free(run->traffic.bytes);
    pencilfft_wisdom_forget();
    if (run->record > STDOUT_FILENO && close(run->record) && !status)
        status = pf_fail(PF_REFUSED, "--json: the record was not written completely");
    processes_release(&run->processes);
    return status;
}

static void print_version(void)
{
    char mpi[256], fftw[VERSION_SIZE];
    mpi_library_text(mpi, sizeof mpi);
    fftw_version_text(fftw);
    printf("%s %s (%s; FFTW %s; hwloc %s)\n", RUNNER_NAME, PENCILFFT_VERSION, mpi, fftw, topology_hwloc_version());
}

/* All ranks must have the same options; else some would wait for calls that others never make. */
static int same_words(int argc, char **argv, int rank)
{
    enum { MOST = 1024 };
    uint64_t of_first[MOST], mine[MOST] = {(uint64_t)argc};
    int at = 0;
    for (int i = 1; i < argc && i < MOST; i++)
        mine[i] = pf_hash(argv[i], strlen(argv[i]));
    memcpy(of_first, mine, sizeof mine);
    PF_MPI(MPI_Bcast(of_first, MOST, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    for (int i = MOST - 1; i > 0; i--)
        at = of_first[i] != mine[i] ? i : at;
    if (!at && of_first[0] == mine[0])
        return 0;
    return pf_fail(
        PF_REFUSED,
        "the options differ between ranks: word %d is '%.60s' on rank %d and another or missing on rank 0; give all "
        "ranks the same options",
        at ? at : MOST, at && at < argc ? argv[at] : "", rank);
}

static int tell(const struct options *o, int rank)
{
    if (rank == 0 && o->help)
        options_print_help();
    else if (rank == 0)
        print_version();
    return 0;
}

static void print_failure(int rank)
{
    if (rank == 0)
        fprintf(stderr, "%s: %s\n", RUNNER_NAME, pf_message());
    fflush(stderr);
}

static int run_program(const struct options *options, int parsed, int argc, char **argv, int rank)
{
    struct run run = {.options = *options, .record = -1, .processes.seating.comm = MPI_COMM_NULL};
    int status = pf_agree(parsed, MPI_COMM_WORLD);
    if (!status)
        status = pf_agree(same_words(argc, argv, rank), MPI_COMM_WORLD);
    if (!status && (run.options.help || run.options.version))
        return tell(&run.options, rank);
    if (!status)
        status = run_all(&run, argc, argv);
    if (status == PENCILFFT_MPI_ERROR)
        abort_with_message();
    if (status)
        print_failure(rank);
    int released = release(&run);
    if (released && !status)
        print_failure(rank);
    return status ? status : released;
}

int main(int argc, char **argv)
{
    int rank = 0, level;
    struct options options;
    int parsed = options_parse(argc, argv, &options);
    if (!parsed && options.time_limit_s > 0)
        parsed = watch_start(options.time_limit_s);
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
        fprintf(stderr, "%s: MPI could not be started\n", RUNNER_NAME);
        return EXIT_FAILURE;
    }
    CHECK_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    watch_rank(rank);
    int status = run_program(&options, parsed, argc, argv, rank);
    watch_mark("the end of MPI", 0);
    if (status)
        watch_end(WATCH_SAID);
    CHECK_MPI(MPI_Finalize());
    watch_end(WATCH_DONE);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
