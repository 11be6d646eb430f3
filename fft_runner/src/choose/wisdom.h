/* The exchange algorithms that "auto" chose; wisdom.c saves the algorithms in a file with FFTW's wisdom. */
#pragma once

#include <stddef.h>

/* Name kept under that key, NULL if there is none. */
const char *pf_wisdom_find(const char *key);
/* Keep or replace a name. False without memory. Keys and names have no blanks. */
int pf_wisdom_keep(const char *key, const char *name);
