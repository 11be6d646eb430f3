/* The ranks that PENCILMAP_PLACEMENT gives to the processes of MPI_COMM_WORLD.
 * Idea:  rank 0 reads the text and the file and decides; all get the ranks. A text with `placement=` is that of
 *        pm_comm_reorder(), with `grid=RxC` added; then each process finds its own place (common/seating.c). Any other text
 *        is a list of ranks, or the name of a file with a list of ranks or with the host of each rank.
 * Cost:  a gather of a seat for each process; 4 bytes a rank go to all. */
#include "order.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "common/seating.h"
#include "common/whole_file.h"
#include "placing.h"

enum { WORD_SIZE = HOST_SIZE };

/* ---- words of a text or a file ----------------------------------------------------------------------------------- */

struct words {
    FILE *file;
    const char *name; /* for messages */
    int line;
};

static const char between[] = " \t\r\n\v\f,";

/* The next word, without comments. 1, 0 at the end, or -1 with a message. */
static int next_word(struct words *w, char word[WORD_SIZE])
{
    int c, length = 0;
    while ((c = getc(w->file)) != EOF) {
        if (c == '#')
            while ((c = getc(w->file)) != EOF && c != '\n') {
            }
        if (c == EOF || (strchr(between, c) && length))
            break;
        w->line += c == '\n';
        if (strchr(between, c))
            continue;
        if (!isgraph(c) || length == WORD_SIZE - 1) {
            pf_fail(PF_REFUSED, "%.200s line %d: %s", w->name, w->line,
                    length ? "a word is too long" : "a byte is not text; ranks or host names are allowed");
            return -1;
        }
        word[length++] = (char)c;
    }
    if (c == '\n')
        ungetc(c, w->file); /* the line is counted with the next word */
    word[length] = '\0';
    return length > 0;
}

/* ---- a list of ranks --------------------------------------------------------------------------------------------- */

/* "5" or "5-8". */
static bool is_ranks(const char *word, long *first, long *last)
{
    char *end;
    if (!isdigit((unsigned char)*word))
        return false;
    *first = *last = strtol(word, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        *last = strtol(end + 1, &end, 10);
    return !*end;
}

static int take_ranks(const struct words *w, const char *word, int ranks, int *rank_of, int *taken)
{
    long first, last;
    if (!is_ranks(word, &first, &last) || first > last)
        return pf_fail(PF_REFUSED, "%.200s line %d: '%.40s' is not a rank; ranks a and ranges a-b are allowed", w->name,
                       w->line, word);
    for (long rank = first; rank <= last; rank++) {
        if (rank >= ranks || *taken == ranks)
            return pf_fail(PF_REFUSED,
                           "%.200s has rank %ld as number %d, but the program has %d ranks; each needs its number", w->name,
                           rank, *taken + 1, ranks);
        rank_of[(*taken)++] = (int)rank;
    }
    return 0;
}

static int check_permutation(const char *name, int ranks, const int *rank_of)
{
    int status = 0;
    bool *seen = calloc((size_t)ranks, sizeof *seen);
    if (!seen)
        return pf_fail(PF_REFUSED, "no memory for %d ranks", ranks);
    for (int i = 0; i < ranks && !status; i++) {
        if (seen[rank_of[i]])
            status = pf_fail(PF_REFUSED,
                             "%.200s has rank %d twice; a mapfile of coordinates needs its torus: \"4x4 "
                             "placement=file:PATH\"",
                             name, rank_of[i]);
        seen[rank_of[i]] = true;
    }
    free(seen);
    return status;
}

/* ---- the host of each rank --------------------------------------------------------------------------------------- */

/* A process and its host; the first process of a host counts those that have ranks. */
struct process {
    const char *host;
    int launched, given;
};

static int by_host(const void *a, const void *b)
{
    const struct process *first = a, *second = b;
    int order = strcmp(first->host, second->host);
    return order ? order : (first->launched > second->launched) - (first->launched < second->launched);
}

/* Cut the domain off, but nothing from an address. */
static char *short_name(char *host)
{
    if (!isdigit((unsigned char)*host))
        host[strcspn(host, ".")] = '\0';
    return host;
}

static struct process *sorted_by_host(struct seat *seats, int ranks)
{
    struct process *processes = calloc((size_t)ranks, sizeof *processes);
    if (!processes) {
        pf_fail(PF_REFUSED, "no memory for %d processes", ranks);
        return NULL;
    }
    for (int i = 0; i < ranks; i++)
        processes[i] = (struct process){short_name(seats[i].named[0] ? seats[i].named : seats[i].host), i, 0};
    qsort(processes, (size_t)ranks, sizeof *processes, by_host);
    return processes;
}

/* The first process of a host, or the place where it would be. */
static int first_on(const char *host, const struct process *processes, int ranks)
{
    int low = 0, high = ranks;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (strcmp(processes[middle].host, host) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The rank goes to the first process on this host that has none. */
static int take_host(const struct words *w, const char *host, struct process *processes, int ranks, int *rank_of, int rank)
{
    int first = first_on(host, processes, ranks);
    if (first == ranks || strcmp(processes[first].host, host))
        return pf_fail(PF_REFUSED, "%.200s line %d: no process runs on host %.100s; one runs on %.100s", w->name, w->line,
                       host, processes[0].host);
    int at = first + processes[first].given++;
    if (at == ranks || strcmp(processes[at].host, host))
        return pf_fail(PF_REFUSED, "%.200s line %d: host %.100s has more ranks here than the %d processes on it", w->name,
                       w->line, host, at - first);
    rank_of[processes[at].launched] = rank;
    return 0;
}

/* "node7", or "node7:4" and "node7*4" for four ranks; 0 if the number is wrong. */
static int count_of(char *host)
{
    char *mark = strpbrk(host, ":*"), *end;
    if (!mark)
        return 1;
    *mark = '\0';
    long count = strtol(mark + 1, &end, 10);
    return *end || count < 1 || count > INT32_MAX ? 0 : (int)count;
}

static int take_hosts(const struct words *w, char *word, struct process *processes, int ranks, int *rank_of, int *taken)
{
    int count = count_of(word), status = 0;
    if (!count)
        return pf_fail(PF_REFUSED, "%.200s line %d: the number of ranks on host %.100s is wrong; write HOST:4", w->name,
                       w->line, word);
    for (int i = 0; i < count && !status; i++, ++*taken) {
        if (*taken == ranks)
            return pf_fail(PF_REFUSED, "%.200s has hosts for more ranks than the %d of the program", w->name, ranks);
        status = take_host(w, short_name(word), processes, ranks, rank_of, *taken);
    }
    return status;
}

/* ---- rank 0 reads ------------------------------------------------------------------------------------------------ */

static int read_words(struct words *w, struct process *processes, int ranks, int *rank_of)
{
    char word[WORD_SIZE];
    long first, last;
    int taken = 0, more, status = 0;
    bool hosts = false;
    while (!status && (more = next_word(w, word)) != 0) {
        if (more < 0)
            return PF_REFUSED;
        if (!taken)
            hosts = !is_ranks(word, &first, &last);
        status = hosts ? take_hosts(w, word, processes, ranks, rank_of, &taken)
                       : take_ranks(w, word, ranks, rank_of, &taken);
    }
    if (!status && taken != ranks)
        status = pf_fail(PF_REFUSED, "%.200s places %d of the %d ranks of the program", w->name, taken, ranks);
    return status ? status : check_permutation(w->name, ranks, rank_of);
}

static bool is_list(const char *text)
{
    return *text && !text[strspn(text, "0123456789-, \t\n")];
}

static int read_placement(const char *text, struct seat *seats, int ranks, int *rank_of)
{
    bool list = is_list(text);
    struct process *processes = sorted_by_host(seats, ranks);
    struct words w = {.name = list ? "the list of ranks" : text, .line = 1};
    w.file = list ? fmemopen(memchr(text, *text, 1), strlen(text), "r") : text_file_open(text, "");
    int status = w.file && processes ? read_words(&w, processes, ranks, rank_of)
                 : list && !w.file   ? pf_fail(PF_REFUSED, "no memory for the list of ranks")
                                     : PF_REFUSED;
    if (w.file)
        fclose(w.file);
    free(processes);
    return status;
}

/* ---- a placement text -------------------------------------------------------------------------------------------- */

/* Take the word grid=RxC out of the text. Without it, the grid is the number of ranks. */
static int take_grid(char *text, int ranks, char grid[64])
{
    char *at = text;
    snprintf(grid, 64, "%d", ranks);
    while ((at = strstr(at, "grid=")) && at > text && !isspace((unsigned char)at[-1]))
        at++;
    if (!at)
        return 0;
    int length = (int)strcspn(at, " \t\n");
    if (length >= 64)
        return pf_fail(PF_REFUSED, "'%.80s' is not a grid; write grid=RxC", at);
    snprintf(grid, 64, "%.*s", length - 5, at + 5);
    memset(at, ' ', (size_t)length);
    return 0;
}

static int by_text(MPI_Comm world, char *text, int ranks, int *rank_of)
{
    struct pm_request q;
    struct seating s = {.comm = MPI_COMM_NULL};
    char grid[64];
    int status = take_grid(text, ranks, grid);
    if (!status)
        status = pm_request_parse(text, grid, ranks, &q);
    if ((status = pf_agree(status, world)))
        return status;
    const struct seating_request request = {q.seats, pm_place_ranks, &q};
    status = seating_make(&request, world, &s);
    if (!status)
        PF_MPI_OR_DONE(MPI_Allgather(&s.rank, 1, MPI_INT, rank_of, 1, MPI_INT, world));
done:
    seating_release(&s);
    return status;
}

int order_of_list(MPI_Comm world, const char *text, int ranks, int *rank_of)
{
    struct seat me, *seats = NULL;
    int status = seating_myself(world, &me);
    if (!status && me.launched == 0 && !(seats = seating_table(ranks, sizeof *seats)))
        status = PF_REFUSED;
    if ((status = pf_agree(status, world)))
        goto done;
    PF_MPI_OR_DONE(MPI_Gather(&me, sizeof me, MPI_BYTE, seats, sizeof me, MPI_BYTE, 0, world));
    if (seats)
        status = read_placement(text, seats, ranks, rank_of);
    if ((status = pf_agree(status, world)))
        goto done;
    PF_MPI_OR_DONE(MPI_Bcast(rank_of, ranks, MPI_INT, 0, world));
done:
    free(seats);
    return status;
}

int order_read(MPI_Comm world, const char *text, int ranks, int *rank_of)
{
    char same[PM_VALUE_SIZE] = ""; /* the text of rank 0, on all */
    if (text)
        snprintf(same, sizeof same, "%s", text);
    PF_MPI(MPI_Bcast(same, sizeof same, MPI_CHAR, 0, world));
    if (!*same)
        return pf_fail(PF_REFUSED,
                       "PENCILMAP_PLACEMENT is not set; it takes a file of hosts, a list of ranks or a placement");
    if (strlen(same) == sizeof same - 1)
        return pf_fail(PF_REFUSED, "PENCILMAP_PLACEMENT is longer than %d characters; write the list into a file",
                       PM_VALUE_SIZE - 2);
    return strstr(same, "placement=") ? by_text(world, same, ranks, rank_of) : order_of_list(world, same, ranks, rank_of);
}
