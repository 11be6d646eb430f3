/* Arguments that all ranks must give alike. */
#pragma once

#include <mpi.h>
#include <stdint.h>

struct pf_argument {
    const char *name;
    enum pf_argument_kind { PF_NUMBER, PF_REAL, PF_TEXT } kind;
    int64_t number;
    double real;
    const char *text; /* NULL differs from "", because only NULL means the default */
};

#define PF_ARGUMENT_NUMBER(name, value) {name, PF_NUMBER, .number = (value)}
#define PF_ARGUMENT_TEXT(name, value) {name, PF_TEXT, .text = (value)}

/* Collective: PENCILFFT_MISMATCH with the same message on all ranks if an argument differs between ranks. The message begins
 * with `what`: "the descriptors". At most 32 arguments. */
int pf_same_arguments(const char *what, int count, const struct pf_argument *argument, MPI_Comm comm);
