/* Idea: processes are sorted by host and binding, so that processes that share something are adjacent. No MPI. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static int by_host(const void *a, const void *b)
{
    const struct process *first = *(const struct process *const *)a, *second = *(const struct process *const *)b;
    int order = strcmp(first->seat.host, second->seat.host);
    return order ? order : strcmp(first->topology.binding, second->topology.binding);
}

/* Number of processes from `at` on that share the host, and the binding if requested. */
static int run_length(const struct process *const *sorted, int n, int at, bool binding)
{
    int end = at + 1;
    while (end < n && !strcmp(sorted[end]->seat.host, sorted[at]->seat.host) &&
           (!binding || !strcmp(sorted[end]->topology.binding, sorted[at]->topology.binding)))
        end++;
    return end - at;
}

struct finding {
    int cases, tasks; /* the first case's tasks */
    const struct process *first;
};

static void note(struct finding *f, const struct process *p, int tasks)
{
    if (f->cases++ == 0) {
        f->tasks = tasks;
        f->first = p;
    }
}

static void tell(struct warnings *w, const struct finding *f, const char *text)
{
    if (f->cases == 0 || w->n == MAX_WARNINGS)
        return;
    int length = snprintf(w->text[w->n], WARNING_SIZE, "%s", text);
    if (f->cases > 1 && length > 0 && length < WARNING_SIZE)
        snprintf(w->text[w->n] + length, (size_t)(WARNING_SIZE - length), " (and %d more like it)", f->cases - 1);
    w->n++;
}

static void check_hosts(const struct process *const *sorted, int n, struct finding *crowded, struct finding *loose)
{
    for (int at = 0, tasks; at < n; at += tasks) {
        const struct topology *t = &sorted[at]->topology;
        tasks = run_length(sorted, n, at, false);
        if (t->processors && tasks > t->processors)
            note(crowded, sorted[at], tasks);
        else if (tasks > 1 && t->numa_nodes > 1 && t->bound_to == t->processors)
            note(loose, sorted[at], tasks);
    }
}

static void check_bindings(const struct process *const *sorted, int n, struct finding *shared)
{
    for (int at = 0, tasks; at < n; at += tasks) {
        const struct topology *t = &sorted[at]->topology;
        tasks = run_length(sorted, n, at, true);
        if (t->binding[0] && t->bound_to && tasks > t->bound_to && t->bound_to < t->processors)
            note(shared, sorted[at], tasks);
    }
}

int warnings_find(const struct process *processes, int n, struct warnings *w)
{
    struct finding crowded = {0}, loose = {0}, shared = {0};
    char text[WARNING_SIZE];
    const struct process **sorted = malloc((size_t)n * sizeof *sorted);
    w->n = 0;
    if (!sorted)
        return pf_fail(PF_REFUSED, "no memory to sort %d processes", n);
    for (int i = 0; i < n; i++)
        sorted[i] = &processes[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_host);
    check_hosts(sorted, n, &crowded, &loose);
    check_bindings(sorted, n, &shared);
    if (crowded.cases) {
        snprintf(text, sizeof text,
                 "host %.100s runs %d tasks on %d processors: they wait for each other, and the times "
                 "are not meaningful",
                 crowded.first->seat.host, crowded.tasks, crowded.first->topology.processors);
        tell(w, &crowded, text);
    }
    if (shared.cases) {
        snprintf(text, sizeof text,
                 "%d tasks of host %.100s are bound to the same %d processors (%.60s): bind them apart, "
                 "the times are not meaningful",
                 shared.tasks, shared.first->seat.host, shared.first->topology.bound_to, shared.first->topology.binding);
        tell(w, &shared, text);
    }
    if (loose.cases) {
        snprintf(text, sizeof text,
                 "the tasks of host %.100s are not bound, and it has %d NUMA nodes: they may move away "
                 "from their memory",
                 loose.first->seat.host, loose.first->topology.numa_nodes);
        tell(w, &loose, text);
    }
    free(sorted);
    return 0;
}
