#!/usr/bin/env bash
# in_copy_of_root.sh COMMAND...    as root: runs the command among this machine's files, of which all that it changes
#                                  outside of the current folder is forgotten afterwards.
set -euo pipefail
[ -n "${IN_MOUNTS_OF_ITS_OWN:-}" ] || IN_MOUNTS_OF_ITS_OWN=1 exec unshare --mount "$0" "$@"
mount -t tmpfs none /mnt
mkdir /mnt/changed /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/changed,workdir=/mnt/work /mnt/root
mount --rbind /dev /mnt/root/dev
mount -t proc proc /mnt/root/proc
mkdir -p "/mnt/root$PWD"
mount --bind "$PWD" "/mnt/root$PWD"
exec chroot /mnt/root "$@"
