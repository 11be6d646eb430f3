"""A torus made of network namespaces: nodes are namespaces, cables are shaped veth pairs, MPI is a real one over TCP.

network.py   what the network is: names, addresses, routes, what its links carry; knows no files and no kernel
plan.py      the same as input of `ip` and `tc`
kernel.py    calls that neither of them makes
build.py     carries the plan out
counters.py  what each link has sent
launch.py    Open MPI on it
inside.py    the whole run, a program of its own that runs in a box
box.py       the box: namespaces that end with the run, whatever ends it
"""
