#include "state.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "members.h"

struct state traffic;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void traffic_lock(void)
{
    if (traffic.threaded)
        pthread_mutex_lock(&mutex);
}

void traffic_unlock(void)
{
    if (traffic.threaded)
        pthread_mutex_unlock(&mutex);
}

void traffic_say(const char *text, ...)
{
    char line[600];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    fprintf(stderr, "pencilmap traffic: %s\n", line);
}

void traffic_begin(void)
{
    MPI_Comm parent;
    int level;
    if (traffic.active)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &traffic.rank);
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        if (traffic.rank == 0)
            traffic_say("processes that MPI_Comm_spawn started are not traced");
        return;
    }
    PMPI_Comm_size(MPI_COMM_WORLD, &traffic.ranks);
    PMPI_Comm_group(MPI_COMM_WORLD, &traffic.world);
    PMPI_Query_thread(&level);
    traffic.threaded = level == MPI_THREAD_MULTIPLE;
    members_begin();
    traffic.begin_s = PMPI_Wtime();
    traffic.counting = traffic.active = true;
}
