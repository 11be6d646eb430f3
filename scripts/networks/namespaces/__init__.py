"""A torus made of network namespaces: namespaces are nodes, shaped veth pairs are cables, a real MPI runs over TCP.

network.py   the network as values: names, addresses, routes, link capacities; reads no files, calls no kernel
inside.py    the whole run, a program of its own that runs in a box: builds the network, starts Open MPI, counts bytes
box.py       the box: namespaces that end with the run
"""
