#!/bin/sh
# What Open MPI calls in place of ssh: agent.sh NODE COMMAND... runs a command in the namespace of that name, which is its
# host name there too.
node=$1
shift
exec nsenter --net="/run/netns/$node" unshare --uts sh -c 'hostname "$0"; eval exec "$1"' "$node" "$*"
