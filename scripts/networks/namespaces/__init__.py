"""A torus made of network namespaces: namespaces are nodes, shaped veth pairs are cables, a real MPI runs over TCP.

network.py   the network as values: names, addresses, routes, link capacities; reads no files, calls no kernel
plan.py      the network as input of `ip` and `tc`
kernel.py    kernel calls that `ip` and `tc` lack
build.py     builds the network from the plan
counters.py  bytes that each link has sent
launch.py    starts Open MPI on the network
inside.py    the whole run, a program of its own that runs in a box
box.py       the box: namespaces that end with the run
"""
