/* Wisdom: FFTW's plans and the choices of "auto", kept in a file.
 * Idea:  a text file with the kind of machine and the MPI, one line per choice, FFTW's wisdom as FFTW writes it, and a
 *        checksum over everything. A file that everyone may write is not read. Rank 0 reads and writes; FFTW's wisdom of all
 *        ranks is collected in a binary tree.
 * Source: fftw_mpi_gather_wisdom and _broadcast_wisdom do the same for FFTW's part. The checksum is FNV-1a.
 * Cost:  log2 P messages of a few kilobytes, and as many agreements, to save; one broadcast to load. */
#include "choose/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <fftw3.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/whole_file.h"

static const char head[] = "pencilfft-wisdom 1\n";
enum { MACHINE_SIZE = 512, CHECK_LENGTH = 26, TAG = 1 }; /* "checksum 0123456789abcdef\n" */
static const off_t largest_file = 1 << 28;

/* FFTW keeps wisdom apart for each precision. Wisdom fits only a planner that knows the same algorithms, hence
 * prepare_planner() before reading and writing. */
static const struct kind {
    const char *name;
    char *(*export)(void);
    int (*import)(const char *);
    void (*forget)(void);
} kinds[] = {
    {"fftw", fftw_export_wisdom_to_string, fftw_import_wisdom_from_string, fftw_forget_wisdom},
    {"fftwf", fftwf_export_wisdom_to_string, fftwf_import_wisdom_from_string, fftwf_forget_wisdom},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static void prepare_planner(void)
{
    for (int i = 0; i < pf_exchanges.count; i++) {
        const struct pf_exchange *exchange = pf_exchange_at(i);
        if (exchange->prepare)
            exchange->prepare();
    }
}

/* ---- the choices -------------------------------------------------------------------------------------------- */

static struct choice {
    char *name;
    struct choice *next;
    char key[];
} *choices;

static struct choice *find(const char *key)
{
    struct choice *c = choices;
    while (c && strcmp(c->key, key))
        c = c->next;
    return c;
}

const char *pf_wisdom_find(const char *key)
{
    const struct choice *c = find(key);
    return c ? c->name : NULL;
}

int pf_wisdom_keep(const char *key, const char *name)
{
    struct choice *c = find(key);
    char *copy = strdup(name);
    if (!c && copy && (c = calloc(1, sizeof *c + strlen(key) + 1))) {
        strcpy(c->key, key);
        c->next = choices;
        choices = c;
    }
    if (c && copy) {
        free(c->name);
        c->name = copy;
        return 1;
    }
    free(copy);
    return 0;
}

void pencilfft_wisdom_forget(void)
{
    while (choices) {
        struct choice *next = choices->next;
        free(choices->name);
        free(choices);
        choices = next;
    }
    for (int i = 0; i < N_KINDS; i++)
        kinds[i].forget();
}

/* ---- machine and MPI of a file ------------------------------------------------------------------------------------ */

static void processor_name(char *name, size_t size)
{
    struct utsname system;
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "%s", uname(&system) ? "unknown processor" : system.machine);
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon) {
            snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " "));
            break;
        }
    }
    if (file)
        fclose(file);
}

static void machine_text(char text[MACHINE_SIZE])
{
    char processor[128], library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "MPI";
    int length;
    processor_name(processor, sizeof processor);
    MPI_Get_library_version(library, &length); /* only for its text; "MPI" if there is none */
    for (char *at = library; *at; at++)
        if (*at == '\t')
            *at = ' ';
    snprintf(text, MACHINE_SIZE, "%.*s; %.100s; %.*s", (int)strcspn(processor, "\n"), processor, fftw_version,
             (int)strcspn(library, "\n"), library);
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t length;
};

static int compose(struct text *text)
{
    char machine[MACHINE_SIZE];
    machine_text(machine);
    FILE *out = open_memstream(&text->bytes, &text->length);
    if (!out)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory to write wisdom");
    fprintf(out, "%smachine %s\n", head, machine);
    for (const struct choice *c = choices; c; c = c->next)
        fprintf(out, "exchange %s %s\n", c->key, c->name);
    for (int i = 0; i < N_KINDS; i++) {
        char *wisdom = kinds[i].export();
        fprintf(out, "%s %zu\n%s\n", kinds[i].name, wisdom ? strlen(wisdom) : 0, wisdom ? wisdom : "");
        free(wisdom);
    }
    if (!fflush(out) && !ferror(out))
        fprintf(out, "checksum %016" PRIx64 "\n", pf_hash(text->bytes, text->length));
    bool failed = ferror(out);
    failed |= fclose(out) != 0;
    return failed ? pf_fail(PENCILFFT_NO_MEMORY, "no memory to write wisdom") : PENCILFFT_OK;
}

static int refuse(const char *path, const char *why)
{
    return pf_fail(PENCILFFT_BAD_CALL, "wisdom file %.200s: %s; delete it or name another", path, why);
}

static int check_whole(const char *path, const char *bytes, size_t n)
{
    char line[CHECK_LENGTH + 1];
    if (n < sizeof head - 1 + CHECK_LENGTH || memcmp(bytes, head, sizeof head - 1) || memchr(bytes, '\0', n))
        return refuse(path, "is not a pencilfft wisdom file (or is of another version)");
    snprintf(line, sizeof line, "checksum %016" PRIx64 "\n", pf_hash(bytes, n - CHECK_LENGTH));
    if (memcmp(bytes + n - CHECK_LENGTH, line, CHECK_LENGTH))
        return refuse(path, "is damaged: its checksum is wrong");
    return PENCILFFT_OK;
}

static int check_machine(const char *path, const char *bytes)
{
    char here[MACHINE_SIZE], there[MACHINE_SIZE] = "";
    machine_text(here);
    sscanf(bytes + sizeof head - 1, "machine %511[^\n]", there);
    if (strcmp(here, there))
        return pf_fail(PENCILFFT_BAD_CALL,
                       "wisdom file %.100s was written for another machine or MPI: '%.100s', here '%.100s'; "
                       "name another file",
                       path, there, here);
    return PENCILFFT_OK;
}

/* ---- file and ranks ------------------------------------------------------------------------------------------ */

static int no_path(const char *function)
{
    return pf_fail(PENCILFFT_BAD_CALL, "%s: null path on rank 0", function);
}

/* FFTW ends the program at some crafted wisdom; treat such a file as a file without wisdom. */
static bool may_be_crafted(const char *path, int descriptor)
{
    struct stat about;
    if (fstat(descriptor, &about) || !S_ISREG(about.st_mode) || !(about.st_mode & S_IWOTH))
        return false;
    fprintf(stderr,
            "pencilfft: wisdom file %.200s is not read, for everyone may write it; plans are made afresh (chmod o-w)\n",
            path);
    return true;
}

static int read_whole(const char *path, struct text *text, int *found)
{
    int status = PENCILFFT_OK, descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    *found = descriptor >= 0;
    if (descriptor < 0)
        return errno == ENOENT ? PENCILFFT_OK : refuse(path, strerror(errno));
    if (may_be_crafted(path, descriptor)) {
        *found = 0;
        close(descriptor);
        return PENCILFFT_OK;
    }
    if (fstat(descriptor, &about) || !S_ISREG(about.st_mode) || about.st_size > largest_file)
        status = refuse(path, "is not a wisdom file");
    else if (!(text->bytes = calloc((size_t)about.st_size + 1, 1)))
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory to read wisdom");
    else if (read(descriptor, text->bytes, (size_t)about.st_size) != about.st_size)
        status = refuse(path, "cannot be read");
    else
        text->length = (size_t)about.st_size;
    close(descriptor);
    if (!status)
        status = check_whole(path, text->bytes, text->length);
    return status ? status : check_machine(path, text->bytes);
}

static int take_choices(char *bytes)
{
    for (char *line = strtok(bytes, "\n"); line; line = strtok(NULL, "\n")) {
        char key[320], name[64];
        if (!strncmp(line, "fftw", 4))
            break;
        if (sscanf(line, "exchange %319s %63s", key, name) == 2 && !pf_wisdom_keep(key, name))
            return pf_fail(PENCILFFT_NO_MEMORY, "no memory for wisdom");
    }
    return PENCILFFT_OK;
}

static int take_fftw(const char *path, char *bytes, const char *name, int (*import)(const char *))
{
    char mark[16];
    size_t length = 0;
    snprintf(mark, sizeof mark, "\n%s ", name);
    char *at = strstr(bytes, mark);
    if (!at || sscanf(at + strlen(mark), "%zu", &length) != 1)
        return PENCILFFT_OK;
    at = strchr(at + 1, '\n');
    if (!at || length > strlen(at + 1))
        return refuse(path, "is damaged: FFTW's part is too short");
    if (!length)
        return PENCILFFT_OK;
    char end = at[1 + length];
    at[1 + length] = '\0';
    int taken = import(at + 1);
    at[1 + length] = end;
    return taken ? PENCILFFT_OK : refuse(path, "has wisdom that this FFTW does not accept");
}

static int take_all(const char *path, char *bytes)
{
    int status = PENCILFFT_OK;
    prepare_planner();
    for (int i = 0; i < N_KINDS && !status; i++)
        status = take_fftw(path, bytes, kinds[i].name, kinds[i].import);
    return status ? status : take_choices(bytes);
}

static int share(struct text *text, int rank, MPI_Comm comm)
{
    int status = PENCILFFT_OK;
    int length = (int)text->length;
    PF_MPI(MPI_Bcast(&length, 1, MPI_INT, 0, comm));
    if (rank)
        *text = (struct text){calloc((size_t)length + 1, 1), (size_t)length};
    if (!text->bytes)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for wisdom");
    if ((status = pf_agree(status, comm)))
        return status;
    PF_MPI(MPI_Bcast(text->bytes, length, MPI_CHAR, 0, comm));
    return status;
}

int pencilfft_wisdom_load(const char *path, MPI_Comm comm, int *found)
{
    int rank, there = 0, status = pf_usable(comm, "pencilfft_wisdom_load");
    struct text text = {NULL, 0};
    if (status)
        return status;
    PF_MPI_OR_DONE(MPI_Comm_rank(comm, &rank));
    if (rank == 0)
        status = path ? read_whole(path, &text, &there) : no_path("pencilfft_wisdom_load");
    if ((status = pf_agree(status, comm)))
        goto done;
    PF_MPI_OR_DONE(MPI_Bcast(&there, 1, MPI_INT, 0, comm));
    if (found)
        *found = there;
    if (there && !(status = share(&text, rank, comm)))
        status = pf_agree(take_all(path, text.bytes), comm);
done:
    free(text.bytes);
    return status;
}

/* ---- FFTW's wisdom of all ranks, on rank 0 ------------------------------------------------------------------- */

/* In every group of 2 * step ranks, the middle rank sends its wisdom to the first. All take part, so that all notice if a
 * rank runs out of memory. */
static int gather_step(const struct kind *kind, int rank, int ranks, int step, MPI_Comm comm)
{
    int status = PENCILFFT_OK, longest;
    bool gives = rank % (2 * step) == step, takes = rank % (2 * step) == 0 && rank + step < ranks;
    char *mine = gives ? kind->export() : NULL, *room = NULL; /* drop wisdom if FFTW has no memory for the export */
    int length = mine ? (int)strlen(mine) : 0;
    PF_MPI_OR_DONE(MPI_Allreduce(&length, &longest, 1, MPI_INT, MPI_MAX, comm));
    if (takes && !(room = calloc((size_t)longest + 1, 1)))
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the wisdom of rank %d", rank + step);
    if ((status = pf_agree(status, comm)))
        goto done;
    if (gives)
        PF_MPI_OR_DONE(MPI_Send(mine ? mine : "", length, MPI_CHAR, rank - step, TAG, comm));
    if (takes)
        PF_MPI_OR_DONE(MPI_Recv(room, longest, MPI_CHAR, rank + step, TAG, comm, MPI_STATUS_IGNORE));
    if (takes && *room)
        kind->import(room);
done:
    free(mine);
    free(room);
    return status;
}

static int gather(const struct kind *kind, int rank, int ranks, MPI_Comm comm)
{
    int status = PENCILFFT_OK;
    for (int step = 1; step < ranks && !status; step *= 2)
        status = gather_step(kind, rank, ranks, step, comm);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

static int write_whole(const char *path, const struct text *text)
{
    struct whole_file file;
    const char *why = whole_file_open(&file, path);
    if (!why) {
        fwrite(text->bytes, 1, text->length, file.out);
        why = whole_file_close(&file, true);
    }
    int status = why && errno == ENOMEM ? PENCILFFT_NO_MEMORY : PENCILFFT_BAD_CALL;
    return why ? pf_fail(status, "wisdom file %.200s cannot be written: %s", path, why) : PENCILFFT_OK;
}

static int save(const char *path, MPI_Comm comm)
{
    int rank, ranks, status = PENCILFFT_OK;
    struct text text = {NULL, 0};
    PF_MPI_OR_DONE(MPI_Comm_rank(comm, &rank));
    PF_MPI_OR_DONE(MPI_Comm_size(comm, &ranks));
    prepare_planner();
    for (int i = 0; i < N_KINDS && !status; i++)
        status = gather(&kinds[i], rank, ranks, comm);
    if (!status && rank == 0 && !(status = path ? compose(&text) : no_path("pencilfft_wisdom_save")))
        status = write_whole(path, &text);
    status = pf_agree(status, comm);
done:
    free(text.bytes);
    return status;
}

/* With a communicator of its own, because the caller's receives could match any message in the caller's communicator. */
int pencilfft_wisdom_save(const char *path, MPI_Comm comm)
{
    int status = pf_usable(comm, "pencilfft_wisdom_save");
    MPI_Comm own;
    if (status)
        return status;
    PF_MPI(MPI_Comm_dup(comm, &own));
    PF_MPI(MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN));
    status = save(path, own);
    if (status != PENCILFFT_MPI_ERROR)
        MPI_Comm_free(&own);
    return status;
}
