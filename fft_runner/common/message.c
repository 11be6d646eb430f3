/* The message is this thread's own. */
#include "message.h"

#include <linux/sockios.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static _Thread_local char message[PF_MESSAGE_SIZE];

int pf_fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return status;
}

const char *pf_message(void)
{
    return message;
}

/* ---- the launcher ----------------------------------------------------------------------------------------------------- */

/* A launcher reads the standard error of a process through a pipe, or a socket, whose fill the kernel tells. */

enum { MOST_NAPS = 500 };
static const struct timespec nap = {.tv_nsec = 10000000}, time_to_forward = {.tv_nsec = 200000000};

void await_launcher(void)
{
    int unread = 0;
    struct stat file;
    fflush(stderr);
    unsigned long fill = fstat(STDERR_FILENO, &file) ? 0
                         : S_ISFIFO(file.st_mode)    ? FIONREAD
                         : S_ISSOCK(file.st_mode)    ? SIOCOUTQ
                                                     : 0;
    for (int i = 0; i < MOST_NAPS && fill && !ioctl(STDERR_FILENO, fill, &unread) && unread > 0; i++)
        nanosleep(&nap, NULL);
    nanosleep(&time_to_forward, NULL);
}
