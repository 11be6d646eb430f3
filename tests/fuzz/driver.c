/* Runs a fuzz target where libFuzzer and AFL++ are not: gcc alone builds it.
 *   TARGET --seconds N --seed S --crash FILE CORPUS...   new inputs from those of the corpus
 *   TARGET FILE...                                       these inputs, once each
 * Idea:   an input of the corpus is changed by one to eight steps (bits, bytes, numbers at edges, words of other inputs,
 *         cuts, copies) and run; one that comes to code where no input has been is kept and changed further.
 * Source: AFL (M. Zalewski, 2013), its havoc and splice stages; gcc's -fsanitize-coverage=trace-pc tells where an input
 *         comes.
 * Cost:   the inputs that are kept. The run is the same for the same seed and corpus, but for where the time ends it.
 * Needs:  a target with the address sanitizer, which ends the program at what it finds. An input that takes longer than
 *         SLOWEST_S seconds is a finding too. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "target.h"

enum { LONGEST = 1 << 14, MOST_KEPT = 1 << 14, MAP_SIZE = 1 << 16, SLOWEST_S = 2 };

extern const char __executable_start;
void __sanitizer_set_death_callback(void (*callback)(void));

/* ---- where an input comes ------------------------------------------------------------------------------------------- */

static unsigned char seen[MAP_SIZE], here[MAP_SIZE];
static uint16_t touched[MAP_SIZE];
static int n_touched;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    size_t at = (size_t)((const char *)__builtin_return_address(0) - &__executable_start);
    at = (at ^ at >> 16) % MAP_SIZE;
    if (here[at] == 0)
        touched[n_touched++] = (uint16_t)at;
    if (here[at] < 255)
        here[at]++;
}

/* Whether the last input came somewhere new, or more often by a power of two. */
static bool is_new(void)
{
    bool found = false;
    for (int i = 0; i < n_touched; i++) {
        unsigned char bits = 1;
        for (int n = here[touched[i]]; n > 1 && bits < 128; n >>= 1)
            bits = (unsigned char)(bits << 1 | 1);
        found |= (bits & ~seen[touched[i]]) != 0;
        seen[touched[i]] |= bits;
        here[touched[i]] = 0;
    }
    n_touched = 0;
    return found;
}

/* ---- inputs --------------------------------------------------------------------------------------------------------- */

struct input {
    uint8_t *bytes;
    size_t size;
};

static struct input kept[MOST_KEPT];
static int n_kept;
static uint8_t bytes[LONGEST];
static size_t size;
static const char *crash_path;
static uint64_t state;
static unsigned long runs;

static uint64_t draw(uint64_t below)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return below ? (z ^ z >> 31) % below : 0;
}

static void keep(void)
{
    if (n_kept == MOST_KEPT)
        return;
    kept[n_kept] = (struct input){malloc(size + 1), size};
    if (!kept[n_kept].bytes)
        abort();
    memcpy(kept[n_kept++].bytes, bytes, size);
}

static bool load(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, bytes, LONGEST);
    if (file >= 0)
        close(file);
    size = got < 0 ? 0 : (size_t)got;
    return got >= 0;
}

/* The input that is being run, when it ends the program. */
static void save(void)
{
    static const char said[] = "fuzz: the input that did it is in ";
    int file = crash_path ? open(crash_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    if (file < 0 || write(file, bytes, size) < 0 || write(2, said, sizeof said - 1) < 0 ||
        write(2, crash_path, strlen(crash_path)) < 0 || write(2, "\n", 1) < 0)
        return;
    close(file);
}

static void ended(int number)
{
    static const char slow[] = "fuzz: an input takes too long\n";
    if (number == SIGALRM && write(2, slow, sizeof slow - 1) < 0)
        _exit(2);
    save();
    _exit(1);
}

static void run(void)
{
    alarm(SLOWEST_S);
    LLVMFuzzerTestOneInput(bytes, size);
    runs++;
}

/* ---- changes -------------------------------------------------------------------------------------------------------- */

static void put(size_t at, size_t old, const void *with, size_t length)
{
    if (at + old > size || size - old + length > LONGEST)
        return;
    memmove(bytes + at + length, bytes + at + old, size - at - old);
    memcpy(bytes + at, with, length);
    size = size - old + length;
}

static void put_number(void)
{
    static const char *const edges[] = {"0",
                                        "1",
                                        "-1",
                                        "2",
                                        "7",
                                        "8",
                                        "255",
                                        "256",
                                        "65535",
                                        "65536",
                                        "1048576",
                                        "2147483647",
                                        "2147483648",
                                        "4294967295",
                                        "4294967296",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "99999999999999999999",
                                        "1e308",
                                        "1e999",
                                        "nan",
                                        "0x10",
                                        "1e-320"};
    const char *edge = edges[draw(sizeof edges / sizeof *edges)];
    size_t at = draw(size + 1), end;
    while (at < size && (bytes[at] < '0' || bytes[at] > '9'))
        at++;
    for (end = at; end < size && bytes[end] >= '0' && bytes[end] <= '9';)
        end++;
    put(at, end - at, edge, strlen(edge));
}

static void put_sign(void)
{
    static const char signs[] = " \t\n\r\v\f,.:;=-+x/#<>()[]{}*\"'\\%$@!0123456789awtrcsn\x7f\x80\xff";
    put(draw(size + 1), draw(2) && size ? 1 : 0, &signs[draw(sizeof signs)], 1);
}

static void put_part(void)
{
    const struct input *other = &kept[draw((uint64_t)n_kept)];
    uint8_t part[256];
    size_t from = draw(other->size + 1), length = draw(sizeof part);
    if (length > other->size - from)
        length = other->size - from;
    memcpy(part, other->bytes + from, length);
    put(draw(size + 1), 0, part, length);
}

static void change(void)
{
    size_t at = draw(size + 1), length = draw(32);
    uint8_t byte = (uint8_t)draw(256);
    if (length > size - at)
        length = size - at;
    switch (draw(8)) {
    case 0: put_number(); break;
    case 1:
    case 2: put_sign(); break;
    case 3: put_part(); break;
    case 4: put(at, length, "", 0); break;
    case 5:
        for (uint64_t copies = draw(64); copies > 0; copies--) {
            uint8_t part[32];
            memcpy(part, bytes + at, length);
            put(at, 0, part, length);
        }
        break;
    case 6: put(at, 0, &byte, 1); break;
    default:
        if (at < size)
            bytes[at] ^= (uint8_t)(1u << draw(8));
    }
}

/* ---- the run -------------------------------------------------------------------------------------------------------- */

static void add_corpus(const char *path)
{
    char name[4096];
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && load(name)) {
            run();
            is_new();
            keep();
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static void search(double seconds)
{
    struct timespec now, begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 64; i++) {
            const struct input *from = &kept[draw((uint64_t)n_kept)];
            memcpy(bytes, from->bytes, size = from->size);
            for (uint64_t steps = 1 + draw(8); steps > 0; steps--)
                change();
            run();
            if (is_new())
                keep();
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
}

int main(int argc, char **argv)
{
    double seconds = 0;
    int first = 1, from_files;
    __sanitizer_set_death_callback(save);
    signal(SIGALRM, ended);
    signal(SIGABRT, ended);
    for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2)
        if (!strcmp(argv[first], "--seconds"))
            seconds = atof(argv[first + 1]);
        else if (!strcmp(argv[first], "--seed"))
            state = strtoull(argv[first + 1], NULL, 10);
        else if (!strcmp(argv[first], "--crash"))
            crash_path = argv[first + 1];
    for (int i = first; i < argc; i++) {
        struct stat about;
        if (!stat(argv[i], &about) && S_ISDIR(about.st_mode)) {
            add_corpus(argv[i]);
        } else if (load(argv[i])) {
            run();
        } else {
            fprintf(stderr, "fuzz: %s cannot be read\n", argv[i]);
            return 2;
        }
    }
    from_files = n_kept;
    if (seconds > 0 && !n_kept)
        keep(); /* the last file, or nothing */
    if (seconds > 0)
        search(seconds);
    alarm(0);
    printf("%lu inputs, %d kept beside %d of the corpus, nothing found\n", runs, n_kept - from_files, from_files);
    for (int i = 0; i < n_kept; i++)
        free(kept[i].bytes);
    return 0;
}
