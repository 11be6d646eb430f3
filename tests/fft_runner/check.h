/* The few lines a C test needs: failures are printed and counted, and their number is the exit status. */
#pragma once

#include <stdio.h>
#include <string.h>

static int check_failures;

#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
            check_failures++;                                                \
        }                                                                    \
    } while (0)

#define CHECK_INT(value, expected)                                                                  \
    do {                                                                                            \
        long long value_ = (long long)(value), expected_ = (long long)(expected);                   \
        if (value_ != expected_) {                                                                  \
            printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #value, value_, expected_); \
            check_failures++;                                                                       \
        }                                                                                           \
    } while (0)

#define CHECK_CONTAINS(text, part)                                               \
    do {                                                                         \
        if (!strstr(text, part)) {                                               \
            printf("%s:%d: '%s' has no '%s'\n", __FILE__, __LINE__, text, part); \
            check_failures++;                                                    \
        }                                                                        \
    } while (0)

static inline int check_result(void)
{
    printf("%d failures\n", check_failures);
    return check_failures > 0;
}
