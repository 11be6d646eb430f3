/* The readers of files and texts in C under libFuzzer; READER names one. A wrong result ends the program. */
#define _GNU_SOURCE
#include <assert.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* FFTW's own wisdom goes to a function here: FFTW ends the program at some crafted wisdom, which is why a file that everyone
 * may write is not read. */
#define fftw_import_wisdom_from_string import_fftw
#define fftwf_import_wisdom_from_string import_fftw
static int import_fftw(const char *text)
{
    return strlen(text) % 2 == 0;
}
#include "choose/wisdom.c" // its readers are static

#include "common/grid.h"
#include "common/message.h"
#include "common/sources.h"
#include "common/torus.h"
#include "options.h"
#include "placing.h"

enum { MOST = 1 << 12, MOST_WORDS = 256 };

void read_platform(char *text, size_t size); /* in readers.cpp */
void read_routes(char *text, size_t size);

/* The path of a file with these bytes, until the next call. */
static const char *file_with(const void *data, size_t size)
{
    static int file = -1;
    static char path[64];
    close(file);
    file = memfd_create("fuzz", 0);
    if (file < 0 || fchmod(file, 0600) || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return path;
}

/* Every rank has a place of its own. */
static void check_placing(struct placing *placing, int ranks, int64_t places)
{
    char taken[MOST] = {0};
    for (int i = 0; i < ranks; i++) {
        int64_t place = placing->place[i];
        assert(place >= 0 && place < places && !taken[place]);
        taken[place] = 1;
    }
    placing_release(placing);
}

/* A torus, a launch order and a process grid, one in each line: an order has every place once. */
static void read_torus(char *text, size_t size)
{
    struct torus torus;
    struct fill_order fill;
    struct coordinate node;
    struct grid grid;
    const char *shape = strsep(&text, "\n"), *order = text ? strsep(&text, "\n") : "";
    char taken[MOST] = {0}, printed[COORDINATE_TEXT];
    int tasks;
    if (text && !grid_parse(text, &grid))
        for (int i = 0; i < grid.dims; i++)
            assert(grid.extent[i] >= 1);
    if (torus_parse(shape, &torus))
        return;
    int64_t nodes = torus_nodes(&torus);
    torus_text(&torus, printed);
    assert(nodes >= 1 && torus.dims >= 1 && torus.dims <= MAX_DIMS);
    if (torus_fit(&torus, 97, 0, &tasks) || torus_order(&torus, tasks, order, &fill) || nodes * tasks > MOST)
        return;
    for (int64_t i = 0; i < nodes * tasks; i++) {
        int64_t place = order_place(&fill, i);
        assert(place >= 0 && place < nodes * tasks && !taken[place]);
        taken[place] = 1;
        node = torus_coordinate(&torus, place / tasks);
        assert(torus_outside(&torus, &node) < 0 && torus_node(&torus, &node) == place / tasks);
        coordinate_text(&node, printed);
    }
}

/* A mapfile after a line with torus, tasks per node and ranks. */
static void read_mapfile(char *text, size_t size)
{
    struct torus torus;
    struct placing placing;
    char shape[128] = "", *content = strchr(text, '\n');
    int tasks = 0, ranks = 0;
    if (!content || sscanf(text, "%127s %d %d", shape, &tasks, &ranks) != 3 || torus_parse(shape, &torus) || tasks <= 0 ||
        ranks <= 0 || ranks > MOST || torus_nodes(&torus) > MOST || tasks > MOST / torus_nodes(&torus))
        return;
    content++;
    if (mapfile_read(file_with(content, size - (size_t)(content - text)), &torus, tasks, ranks, &placing))
        return;
    for (int i = 0; i < ranks; i++)
        assert(placing.line[i] > 0);
    check_placing(&placing, ranks, torus_nodes(&torus) * tasks);
}

/* Two processes with these names sit apart, and inside the torus. */
static void check_seats(const char *host, const char *where)
{
    struct seats_request request = {.has_torus = true, .where = where, .may_assume = true};
    struct seat seats[2] = {{.launched = 0, .node.dims = 0}, {.launched = 1, .node.dims = 0}};
    int source, tasks;
    torus_parse("4x3x2", &request.torus);
    strncpy(seats[0].host, host, HOST_SIZE - 1);
    strncpy(seats[1].host, "node-3-0-1", HOST_SIZE - 1);
    if (seats_locate(&request, seats, 2, &source, &tasks))
        return;
    for (int i = 0; i < 2; i++)
        assert(seats[i].place >= 0 && seats[i].place < 24 * (int64_t)tasks);
    assert(seats[0].place != seats[1].place || tasks == 1);
}

/* A host name, then a table of hosts. */
static void read_hosts(char *text, size_t size)
{
    struct host_table table;
    struct coordinate node;
    char *content = text, where[128] = "table:";
    const char *host = strsep(&content, "\n");
    size_t left = content ? size - (size_t)(content - text) : 0;
    int slot, refused = host_table_read(file_with(content ? content : "", left), &table);
    for (int dims = 1; dims <= MAX_DIMS; dims++) {
        if (coordinate_from_hostname(host, dims, &node, &slot))
            for (int i = 0; i < dims; i++)
                assert(node.at[i] >= 0);
        coordinate_from_blue_gene(host, dims, &node, &slot);
        if (!refused)
            host_table_find(&table, host, dims, &node);
    }
    host_table_release(&table);
    check_seats(host, strcat(where, file_with(content ? content : "", left)));
    check_seats(host, NULL);
}

/* The two texts of pm_comm_reorder, a line each. */
static void read_request(char *text, size_t size)
{
    static struct pm_request request;
    struct placing placing;
    struct grid grid;
    const char *machine = strsep(&text, "\n");
    const struct torus *torus = &request.seats.torus;
    int64_t ranks = 1;
    int tasks = 0;
    bool understood = text && !grid_parse(text, &grid);
    for (int i = 0; understood && i < grid.dims && ranks <= MOST; i++)
        ranks *= grid.extent[i];
    if (!pm_request_parse(machine, text ? text : "", ranks <= MOST ? (int)ranks : 1, &request) && understood &&
        ranks <= MOST && !torus_fit(torus, (int)ranks, request.seats.tasks_per_node, &tasks) &&
        torus_nodes(torus) * tasks <= MOST && strncmp(request.placement, "file", 4) && /* read_mapfile reads those */
        !pm_place_ranks(&request, torus, tasks, (int)ranks, &placing))
        check_placing(&placing, (int)ranks, torus_nodes(torus) * tasks);
    assert(strlen(pf_message()) < PF_MESSAGE_SIZE);
}

/* A command line of fft_runner, a word in each line. */
static void read_options(char *text, size_t size)
{
    struct options options;
    char *words[MOST_WORDS + 1] = {"fft_runner"};
    int n = 1;
    while (text && n < MOST_WORDS)
        words[n++] = strsep(&text, "\n");
    optind = 0; /* getopt begins anew */
    if (options_parse(n, words, &options) || options.help || options.version)
        return;
    bool given = options.grid.dims > 0; /* else the library chooses */
    assert(options.fft.nx > 0 && options.fft.ny > 0 && options.fft.nz > 0 && options.reps > 0 && options.warmup >= 0);
    assert(given ? options.fft.R > 0 && options.fft.C > 0 : !options.fft.R && !options.fft.C);
    assert(strlen(direction_name(&options)) > 0);
}

static void take_wisdom(const void *content, size_t size)
{
    struct text text = {NULL, 0};
    int found;
    const char *path = file_with(content, size);
    if (!read_whole(path, &text, &found) && found && !take_all(path, text.bytes))
        for (const struct choice *c = choices; c; c = c->next)
            assert(!strpbrk(c->key, " \n") && !strpbrk(c->name, " \n") && pf_wisdom_find(c->key) != NULL);
    free(text.bytes);
    pencilfft_wisdom_forget();
}

/* A wisdom file as it is, and between the right head and checksum. */
static void read_wisdom(char *text, size_t size)
{
    char machine[MACHINE_SIZE];
    struct text whole;
    take_wisdom(text, size);
    machine_text(machine);
    FILE *out = open_memstream(&whole.bytes, &whole.length);
    fprintf(out, "%smachine %s\n%s", head, machine, text);
    fflush(out);
    fprintf(out, "checksum %016" PRIx64 "\n", pf_hash(whole.bytes, whole.length));
    fclose(out);
    take_wisdom(whole.bytes, whole.length);
    free(whole.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const char *name;
        void (*read)(char *text, size_t size);
    } readers[] = {{"torus", read_torus},       {"mapfile", read_mapfile}, {"hosts", read_hosts},
                   {"request", read_request},   {"options", read_options}, {"wisdom", read_wisdom},
                   {"platform", read_platform}, {"routes", read_routes}};
    char *text = malloc(size + 1); /* exactly as long, so that reading beyond it is seen */
    memcpy(text, data, size);
    text[size] = '\0';
    const char *name = getenv("READER");
    size_t i = 0;
    while (strcmp(readers[i].name, name))
        i++;
    readers[i].read(text, size);
    free(text);
    return 0;
}
