/* Tables of named things: each row is a struct whose first member is `const char *name`, or a pointer to such a struct. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pf_table {
    const char *kind; /* the noun for messages: "exchange" */
    const void *rows;
    size_t row_bytes; /* 0: rows are pointers */
    int count;
};

#define PF_TABLE(kind, rows) {kind, rows, sizeof(rows)[0], (int)(sizeof(rows) / sizeof(rows)[0])}
#define PF_TABLE_OF_POINTERS(kind, rows) {kind, rows, 0, (int)(sizeof(rows) / sizeof(rows)[0])}

const void *pf_table_row(const struct pf_table *table, int i); /* NULL outside the table */
const char *pf_table_name(const struct pf_table *table, int i); /* NULL outside the table */
/* The row of that name, or NULL with a message that lists the known names. */
const void *pf_table_find(const struct pf_table *table, const char *name);

/* FNV-1a hash: equal bytes have equal hashes. */
uint64_t pf_hash(const char *bytes, size_t n);
