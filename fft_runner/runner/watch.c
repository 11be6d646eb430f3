/* Idea:  a process forked from the rank before MPI starts sees events from outside that MPI cannot report: the rank was
 *        killed, for then the pipe between the two closes; the rank is stopped; its time is over. The rank notes its current
 *        work in a page shared by both, for the watcher's report. All watchers of a node that wake together ask for one name
 *        of a socket, and only the owner of the name reports: the first whose rank died or, when time is over, the first
 *        whose rank is stopped or has been silent longest. The name leaves nothing behind. Then the watcher kills its rank,
 *        and the launcher the others. If the machine is so busy that the launcher has ended another rank before the first
 *        rank's watcher wakes up, the report may name that rank.
 * Source: unix(7), abstract sockets; proc(5), the state of a process. */
#include "runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct page {
    const char *volatile phase; /* fork keeps the addresses of constants */
    volatile int number, rank;
    volatile enum watch_end ended;
    volatile double since; /* seconds after the start */
} *page;

static struct timespec started;
static pid_t watcher;
static int my_end; /* of the pipe; the rank's death closes it */
static double age(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* which no program sets */
    return (double)(now.tv_sec - started.tv_sec) + 1e-9 * (double)(now.tv_nsec - started.tv_nsec);
}

void watch_mark(const char *phase, int number)
{
    if (!page)
        return;
    page->number = number;
    page->phase = phase;
    page->since = age();
}

void watch_rank(int rank)
{
    if (page)
        page->rank = rank;
}

void watch_end(enum watch_end how)
{
    if (!page)
        return;
    page->ended = how;
    if (how != WATCH_DONE)
        return;
    close(my_end);
    waitpid(watcher, NULL, 0);
}

#ifdef PENCILFFT_SIMULATED
int watch_start(double limit_s)
{
    (void)limit_s;
    return pf_fail(PF_REFUSED, "--time-limit watches processes; in a simulation all ranks are one, so use timeout(1)");
}
#else

static const double most_delay_s = 0.5, silence_s = 1.5;

static void pause_for(double seconds)
{
    struct timespec pause = {.tv_sec = (time_t)seconds};
    pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
    nanosleep(&pause, NULL);
}

/* ---- the watcher -------------------------------------------------------------------------------------------- */

static int is_stopped(pid_t rank)
{
    char name[64], text[512] = "", state = 0;
    snprintf(name, sizeof name, "/proc/%ld/stat", (long)rank);
    FILE *file = fopen(name, "r");
    if (!file)
        return 0;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *after = strrchr(text, ')'); /* of the program's name */
    if (after && after[1] == ' ')
        state = after[2];
    return state == 'T' || state == 't';
}

/* Whether this is the first watcher of the job on this node; the watcher keeps the role until its end. */
static int is_first(pid_t launcher)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "fft_runner-%ld-%ld", (long)getuid(), (long)launcher);
    int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return s >= 0 &&
           !bind(s, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length));
}

static void speak(pid_t rank, const char *what)
{
    char number[16] = "", host[64] = "?";
    if (page->number > 0)
        snprintf(number, sizeof number, " %d", page->number);
    gethostname(host, sizeof host - 1);
    fprintf(stderr, "%s: rank %d (process %ld on %s) %s; last heard of in %s%s, %.1f s after the start\n", RUNNER_NAME,
            page->rank, (long)rank, host, what, page->phase, number, page->since);
    fflush(stderr);
}

/* The other watchers of this node end now, without a report. */
static void keep_silence(void)
{
    close(STDERR_FILENO); /* the launcher waits for this before it ends the other ranks */
    pause_for(silence_s);
}

static void rank_is_gone(pid_t rank, pid_t launcher)
{
    if (page->ended != WATCH_DONE && is_first(launcher)) {
        if (!page->ended)
            speak(rank, "was killed or ended by itself");
        keep_silence();
    }
}

static void time_is_over(pid_t rank, pid_t launcher, double limit_s)
{
    char what[96];
    int stopped = is_stopped(rank);
    snprintf(what, sizeof what, "%s when the time limit of %g s was over", stopped ? "was stopped" : "had not ended",
             limit_s);
    if (!stopped)
        pause_for(most_delay_s * (0.5 + 0.5 * page->since / limit_s));
    int first = is_first(launcher);
    if (first)
        speak(rank, what);
    else
        pause_for(most_delay_s); /* until the report is out */
    kill(rank, SIGKILL);
    if (first)
        keep_silence();
}

static void watch(int end_of_pipe, pid_t rank, pid_t launcher, double limit_s)
{
    struct pollfd pipe_closes = {.fd = end_of_pipe, .events = POLLIN};
    for (double left = limit_s; left > 0; left = limit_s - age()) {
        int ms = left > 1e6 ? 1000000000 : (int)(left * 1e3) + 1;
        if (poll(&pipe_closes, 1, ms) > 0) {
            rank_is_gone(rank, launcher);
            return;
        }
    }
    if (!page->ended)
        time_is_over(rank, launcher, limit_s);
}

/* The launcher sees by closed descriptors that its rank has ended. */
static void close_all_but(int one, int other)
{
    long most = sysconf(_SC_OPEN_MAX);
    for (int i = 0; i < (most > 0 && most < 4096 ? most : 4096); i++)
        if (i != one && i != other)
            close(i);
}

int watch_start(double limit_s)
{
    int ends[2];
    pid_t rank = getpid(), launcher = getppid();
    void *memory = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || pipe(ends))
        return pf_fail(PF_REFUSED, "--time-limit: the system gives no memory or no pipe for the watcher");
    clock_gettime(CLOCK_MONOTONIC, &started);
    page = memory;
    page->rank = -1;
    watch_mark("the start of MPI", 0);
    if (!(watcher = fork())) {
        setsid();
        close_all_but(STDERR_FILENO, ends[0]);
        watch(ends[0], rank, launcher, limit_s);
        _exit(EXIT_SUCCESS);
    }
    close(ends[0]);
    my_end = ends[1];
    fcntl(my_end, F_SETFD, FD_CLOEXEC);
    if (watcher < 0)
        return pf_fail(PF_REFUSED, "--time-limit: the system starts no process for the watcher");
    return 0;
}
#endif

/* ---- ends of the runner ----------------------------------------------------------------------------------------------- */

void abort_with_message(void)
{
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    watch_end(WATCH_SAID);
    fprintf(stderr, "%s: process %d: %s\n", RUNNER_NAME, rank, pf_message());
    await_launcher();
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

void or_abort(int status)
{
    if (status)
        abort_with_message();
}

void check_mpi(int code, const char *call)
{
    if (code == MPI_SUCCESS)
        return;
    pf_fail_mpi(code, call);
    abort_with_message();
}
