/* A fuzz target: libFuzzer and driver.c call it with any bytes. What it finds wrong ends the program. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of the bytes that ends with a zero, exactly as long, so that reading beyond it is seen. */
char *target_text(const uint8_t *data, size_t size);
/* The path of a file with these bytes, for readers that take a path. target_forget() closes it. */
const char *target_file(const void *data, size_t size);
void target_forget(void);
/* End the program at a result that cannot be. */
void target_hold(int holds, const char *what);

#ifdef __cplusplus
}
#endif
