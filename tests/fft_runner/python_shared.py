"""Started by test_python_binding.py under mpirun: count the communicators of five equal plans after the first plan.

Open MPI numbers communicators in their order, which gives the count.
"""

from mpi4py import MPI

from pencilfft import Plan


def next_number():
    duplicate = MPI.COMM_WORLD.Dup()
    number = duplicate.py2f()
    duplicate.Free()
    return number


def plan():
    return Plan((4, 4, 4), (1, MPI.COMM_WORLD.size), MPI.COMM_WORLD, rigor="estimate")


plans = [plan()]
first = next_number()
plans += [plan() for _ in range(5)]
made = next_number() - first
for one in plans:
    one.destroy()
if MPI.COMM_WORLD.rank == 0:
    print(f"{made} communicators made")
