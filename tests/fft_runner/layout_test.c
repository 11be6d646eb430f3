/* How C lays out the structures that it shares with Fortran and Python: a line for each, size and offsets in bytes. */
#include <stdio.h>

#include "pencilfft.h"

#define AT(structure, member) offsetof(structure, member)

int main(void)
{
    printf("pencilfft_box %zu %zu %zu %zu\n", sizeof(pencilfft_box), AT(pencilfft_box, offset), AT(pencilfft_box, extent),
           AT(pencilfft_box, stride));
    printf("pencilfft_format %zu %zu %zu %zu %zu %zu %zu\n", sizeof(pencilfft_format), AT(pencilfft_format, element_bytes),
           AT(pencilfft_format, real_bytes), AT(pencilfft_format, is_complex), AT(pencilfft_format, fields),
           AT(pencilfft_format, field_stride), AT(pencilfft_format, n));
    return 0;
}
