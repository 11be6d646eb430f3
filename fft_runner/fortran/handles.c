/* Communicators of Fortran, integers, for the module pencilfft. */
#include "pencilfft.h"

int pencilfft_plan_create_fortran(const pencilfft_desc *desc, MPI_Fint comm, pencilfft_plan *plan);

int pencilfft_plan_create_fortran(const pencilfft_desc *desc, MPI_Fint comm, pencilfft_plan *plan)
{
    return pencilfft_plan_create(desc, MPI_Comm_f2c(comm), plan);
}
