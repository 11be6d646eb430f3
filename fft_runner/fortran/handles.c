/* Communicators of Fortran and Python, integers, for the modules pencilfft. */
#include "pencilfft.h"

int pencilfft_plan_create_fortran(const pencilfft_desc *desc, MPI_Fint comm, pencilfft_plan *plan);
int pencilfft_wisdom_load_fortran(const char *path, MPI_Fint comm, int *found);
int pencilfft_wisdom_save_fortran(const char *path, MPI_Fint comm);

int pencilfft_plan_create_fortran(const pencilfft_desc *desc, MPI_Fint comm, pencilfft_plan *plan)
{
    return pencilfft_plan_create(desc, MPI_Comm_f2c(comm), plan);
}

int pencilfft_wisdom_load_fortran(const char *path, MPI_Fint comm, int *found)
{
    return pencilfft_wisdom_load(path, MPI_Comm_f2c(comm), found);
}

int pencilfft_wisdom_save_fortran(const char *path, MPI_Fint comm)
{
    return pencilfft_wisdom_save(path, MPI_Comm_f2c(comm));
}
