/* The message is this thread's own. */
#include "common/message.h"

#include <stdarg.h>
#include <stdio.h>

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
