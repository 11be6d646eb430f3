/* Idea:  the ranks of a program that is ended have no time for messages, so each writes a file of its own,
 *        FILE.rank-RANK, which is a trace with the messages of this rank alone. Programs that read one read them all.
 *        A signal may come anywhere, so only functions that are safe in its handler are called, and no memory is allocated.
 *        If it comes while a call is counted, the call is counted first. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "count.h"
#include "windows.h"

static const int ends[] = {SIGTERM, SIGINT, SIGXCPU, SIGHUP};
static char name[4096], version[MPI_MAX_LIBRARY_VERSION_STRING];
static volatile sig_atomic_t came;
static const struct timespec for_the_others = {.tv_sec = 1}; /* MPICH's launcher kills all when the first rank has ended */
static pid_t own; /* a child of the program has nothing to write */

/* ---- text without memory ------------------------------------------------------------------------------------------- */

static struct {
    char text[8192];
    size_t filled;
    int file;
    bool bad;
} out;

static void flush_text(void)
{
    for (size_t done = 0; done < out.filled && !out.bad;) {
        ssize_t n = write(out.file, out.text + done, out.filled - done);
        out.bad = n < 0 && errno != EINTR;
        done += n > 0 ? (size_t)n : 0;
    }
    out.filled = 0;
}

static void text(const char *of)
{
    for (; *of; of++) {
        if (out.filled == sizeof out.text)
            flush_text();
        out.text[out.filled++] = *of;
    }
}

static void number(const char *before, int64_t n)
{
    char digits[24], *at = digits + sizeof digits - 1;
    uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
    *at = '\0';
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    text(before);
    text(n < 0 ? "-" : "");
    text(at);
}

/* With six digits behind the point. */
static void decimal(const char *before, double value)
{
    number(before, (int64_t)value);
    char digits[8] = ".000000";
    int64_t millionths = (int64_t)((value - (double)(int64_t)value) * 1e6);
    for (int i = 6; i > 0; i--, millionths /= 10)
        digits[i] = (char)('0' + millionths % 10);
    text(digits);
}

/* ---- the file ------------------------------------------------------------------------------------------------------ */

static void put_members(int i, const struct communicator *c)
{
    number("communicator ", i);
    number(" size ", c->size);
    for (int k = 0; k < c->dimensions; k++)
        number(k ? "x" : " grid ", c->extent[k]);
    for (int k = 0; k < c->dimensions; k++)
        number(k ? "," : " periodic ", c->periodic[k] != 0);
    text(c->inter ? " inter" : "");
    if (!c->list) {
        number(" first ", c->first);
        number(" stride ", c->stride);
    }
    for (int k = 0; c->list && k < c->size; k++)
        number(k ? "," : " ranks ", c->list[k]);
    text("\n");
}

static int64_t put_pairs(const struct pairs *pairs)
{
    int64_t lines = 0;
    for (size_t i = 0; i < pairs->size; i++) {
        const struct pair *p = pairs->at + i;
        if (!p->messages)
            continue;
        bool fetched = pair_kind(p->key) == FETCHED;
        int partner = pair_partner(p->key);
        number("0 ", pair_communicator(p->key));
        number(" ", fetched ? ONE_SIDED : pair_kind(p->key));
        number(" ", fetched ? partner : traffic.rank);
        number(" ", fetched ? traffic.rank : partner);
        number(" ", (int64_t)p->bytes);
        number(" ", (int64_t)p->messages);
        text("\n");
        lines++;
    }
    return lines;
}

static void put_file(void)
{
    int kinds;
    const struct window_kind *kind = window_kinds(&kinds);
    double seconds = traffic_seconds(), counted, computing;
    window_passes();
    counted = window_open()->seconds, computing = window_open()->computing;
    for (int k = 0; k < kinds; k++)
        counted += kind[k].seconds, computing += kind[k].computing;
    text("pencilmap traffic 1\nmpi ");
    text(version);
    number("\nranks ", traffic.ranks);
    number("\ncut ", traffic.rank);
    number(" of ", traffic.run);
    decimal("\nseconds ", seconds);
    decimal("\nprocessor_seconds ", traffic_processor_seconds());
    decimal("\nranks_per_core ", traffic.ranks_per_core);
    if (traffic.outside_messages) {
        number("\noutside ", (int64_t)traffic.outside_bytes);
        number(" ", (int64_t)traffic.outside_messages);
    }
    decimal("\nphase 0 times 1 seconds ", seconds);
    number("\nrank ", traffic.rank);
    decimal(" computing ", computing);
    decimal(" waiting ", counted - computing);
    text("\n");
    for (int i = 0; i < communicators_count(); i++)
        put_members(i, communicator_at(i));
    int64_t lines = put_pairs(&window_open()->pairs);
    for (int k = 0; k < kinds; k++)
        lines += put_pairs(&kind[k].pairs);
    number("end ", lines);
    text("\n");
}

void cut_write(void)
{
    struct stat about;
    if (!*name || traffic.failed || getpid() != own)
        return;
    if (!lstat(name, &about) && S_ISREG(about.st_mode))
        unlink(name); /* of an earlier run */
    out.file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
    if (out.file < 0)
        return;
    put_file();
    flush_text();
    if (close(out.file) || out.bad)
        unlink(name);
    *name = '\0';
    nanosleep(&for_the_others, NULL);
}

/* ---- when ------------------------------------------------------------------------------------------------------------ */

static void end_by(int number_of_signal)
{
    signal(number_of_signal, SIG_DFL);
    raise(number_of_signal); /* at the return of a handler */
}

static void handle(int number_of_signal)
{
    int error = errno;
    came = number_of_signal;
    if (traffic_try_lock()) {
        if (traffic.active)
            cut_write();
        end_by(number_of_signal); /* with the lock: nothing is counted any more */
    }
    errno = error;
}

static void end_late(void)
{
    if (came)
        handle(came);
}

/* A program that ends without MPI_Finalize. */
__attribute__((destructor)) static void without_end(void)
{
    if (traffic.active && getpid() == own && traffic_try_lock())
        cut_write();
}

/* The end without destructors, which Open MPI 4 also takes if its launcher has ended first. */
__attribute__((visibility("default"))) void _exit(int status)
{
    without_end();
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"))) void _Exit(int status)
{
    _exit(status);
}

void cut_begin(void)
{
    struct sigaction now, ours = {.sa_handler = handle};
    struct stat about;
    int length;
    own = getpid();
    traffic.late = end_late;
    if (lstat(traffic_file(), &about) || S_ISREG(about.st_mode) || S_ISLNK(about.st_mode))
        if (snprintf(name, sizeof name, "%s.rank-%d", traffic_file(), traffic.rank) >= (int)sizeof name)
            *name = '\0';
    PMPI_Get_library_version(version, &length);
    version[strcspn(version, "\n#")] = '\0';
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (!sigaction(ends[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
            sigaction(ends[i], &ours, NULL);
}
