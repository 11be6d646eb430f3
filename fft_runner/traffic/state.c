#include "state.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

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
