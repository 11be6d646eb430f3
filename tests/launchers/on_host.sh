#!/bin/sh
# Stands in for ssh: run the command here, as on the host named before it. Processes see that name in PENCILMAP_HOST.
# Every host has a folder for temporary files of its own in HOSTS_TMP: daemons of one job on one machine trip over each
# other.
while [ $# -gt 0 ]; do
  case $1 in -x|-n|-q) shift ;; *) break ;; esac
done
PENCILMAP_HOST=$1
export PENCILMAP_HOST
shift
if [ -n "$HOSTS_TMP" ]; then
  TMPDIR=$HOSTS_TMP/$PENCILMAP_HOST
  export TMPDIR
  mkdir -p "$TMPDIR"
fi
exec /bin/sh -c "$*"
