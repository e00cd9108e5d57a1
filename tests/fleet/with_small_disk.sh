#!/bin/sh
# with_small_disk.sh COMMAND...    runs a test whose temporary files are on a disk of 16 MiB of its own. Exits with 77, which
# ctest counts as skipped, where the system does not let it have one.
folder=$(mktemp -d)
trap 'rmdir "$folder"' EXIT
options=--mount
[ "$(id -u)" = 0 ] || options="--map-root-user --mount"
mount='mount -t tmpfs -o size=16m none "$0" 2>/dev/null'
if ! unshare $options sh -c "$mount" "$folder" 2>/dev/null; then
  echo "the system gives this user no mounts of his own"
  exit 77
fi
TMPDIR=$folder ATTUNE_SMALL_DISK=1 unshare $options sh -c "$mount; \"\$@\"" "$folder" "$@"
