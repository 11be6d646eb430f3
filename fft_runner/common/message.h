/* One message per failure. Knows no MPI; failure.h agrees on it among ranks. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PF_MESSAGE_SIZE = 1024,
    PF_REFUSED = 100 /* status of what runner, reorder library and common parts refuse; beside those of pencilfft_status */
};

/* Keep the message for this thread and return the status. */
int pf_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *pf_message(void);

#ifdef __cplusplus
}
#endif
