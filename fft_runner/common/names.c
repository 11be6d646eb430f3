#include "common/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/message.h"
#include "pencilfft.h"

const void *pf_table_row(const struct pf_table *table, int i)
{
    if (i < 0 || i >= table->count)
        return NULL;
    return table->row_bytes ? (const char *)table->rows + (size_t)i * table->row_bytes
                            : ((const void *const *)table->rows)[i];
}

const char *pf_table_name(const struct pf_table *table, int i)
{
    const void *row = pf_table_row(table, i);
    return row ? *(const char *const *)row : NULL;
}

/* As many of the known names as fit into a short message. */
static void refuse(const struct pf_table *table, const char *name)
{
    char known[250] = "";
    size_t used = 0, room = sizeof known - sizeof ", ...";
    for (int i = 0; i < table->count && used < room; i++) {
        const char *next = pf_table_name(table, i);
        bool fits = used + strlen(next) + 2 <= room;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", fits ? next : "...");
        if (!fits)
            break;
    }
    pf_fail(PENCILFFT_UNKNOWN_NAME, "unknown %s '%.100s'; known: %s", table->kind, name, known);
}

const void *pf_table_find(const struct pf_table *table, const char *name)
{
    for (int i = 0; name && i < table->count; i++)
        if (!strcmp(name, pf_table_name(table, i)))
            return pf_table_row(table, i);
    refuse(table, name ? name : "(none)");
    return NULL;
}

uint64_t pf_hash(const char *bytes, size_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return hash;
}
