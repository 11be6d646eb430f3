"""Started by test_fortran.py: the structures and numbers of the binding, in the output format of the C and Fortran tests."""

import ctypes

import pencilfft


def print_structure(name, structure):
    print(name, ctypes.sizeof(structure), *(getattr(structure, member).offset for member, _ in structure._fields_))


print_structure("pencilfft_box", pencilfft._Box)
print_structure("pencilfft_part", pencilfft._Part)
print_structure("pencilfft_grid_trial", pencilfft._GridTrial)
print_structure("pencilfft_format", pencilfft._Format)
print_structure("pencilfft_line", pencilfft._Line)
print("direction", pencilfft.FORWARD, pencilfft.BACKWARD)
PENCILS = {axis: number for number, axis in enumerate("zyx")}  # of the first order
print("pencil", *({**PENCILS, **pencilfft.ENDS}[name]
                  for name in ("z", "y", "x", "input", "output", "inner input", "inner output")), pencilfft.BEFORE)
print("names", len(PENCILS) + len(pencilfft.ENDS) + 1)
