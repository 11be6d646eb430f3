#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Before an end of this process, which may overtake its message: waits until the launcher has read standard error, at most
 * 5 s, and some time for the launcher to forward the message (MPICH's mpiexec). */
void await_launcher(void);

#ifdef __cplusplus
}
#endif
