#!/bin/sh
# Stands in for ssh: run the command here, as on the host named before it. Processes see that name in PENCILMAP_HOST.
while [ $# -gt 0 ]; do
  case $1 in -x|-n|-q) shift ;; *) break ;; esac
done
PENCILMAP_HOST=$1
export PENCILMAP_HOST
shift
exec /bin/sh -c "$*"
