/* One message per failure. Knows no MPI; failure.h makes ranks agree on a message. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum {
    PF_MESSAGE_SIZE = 1024,
    PF_REFUSED = 100 /* refusals of runner, reorder library and common parts, beside the values of pencilfft_status */
};

/* Keep the message for this thread and return the status. */
int pf_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *pf_message(void);

/* Before an end of this process, which may overtake its message: waits until the launcher has read standard error, at most
 * 5 s, and some time for the launcher to forward the message (MPICH's mpiexec). */
void await_launcher(void);

#ifdef __cplusplus
}
#endif
