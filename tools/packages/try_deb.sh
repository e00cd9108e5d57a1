#!/usr/bin/env bash
# try_deb.sh COMPILER SERVER RUNTIME DEVELOPMENT    in a root of its own: installs the Debian packages, has them compile, run and
#                              check a network, start the server's program and build a program, and removes them again, with
#                              all that they had brought. Fails if a file is left.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/root
work=$(mktemp -d)
# The linker's cache and the manual's are made anew whenever a package comes or goes.
files() { find /usr /etc /opt /srv -xdev ! -path /etc/ld.so.cache | sort; }
kilobytes() { du -sxk /usr | cut -f 1; }
with_apt() { apt-get -q -y "$@" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }

files > "$work/before"
before=$(kilobytes)
with_apt --no-install-recommends install "$1"
own=$(dpkg -L attune | while read -r path; do [ -d "$path" ] || echo "$path"; done | xargs du -ck | tail -1 | cut -f 1)
echo "installed: $own kB, with what it depends on $(($(kilobytes) - before)) kB"
export ATTUNE_RECORDS=none
attune --version
# Without its package, the server's program is named.
if attune server --help 2> "$work/error"; then exit 1; fi
grep -q "install the package attune-server" "$work/error"
with_apt --no-install-recommends install "$2"
attune server --help > /dev/null
attune zoo squeezenet1_1 -o "$work/net.onnx"
attune compile "$work/net.onnx" -o "$work/net.atn"
attune run "$work/net.atn" --input random:1 > "$work/outputs"
attune verify "$work/net.onnx"
test -e /usr/share/doc/attune/copyright
with_apt --no-install-recommends install "$3"
if [ -x "$(command -v pkg-config)" ] && [ -n "${EXAMPLE:-}" ]; then
  # shellcheck disable=SC2046
  "$CXX" -std=c++20 "$EXAMPLE" $(pkg-config --cflags --libs attune_runtime) -o "$work/example"
  "$work/example" "$work/net.atn"
fi
with_apt --no-install-recommends install "$4"
with_apt --purge --autoremove remove attune attune-server libattune-dev libattune-runtime-dev
files > "$work/after"
diff "$work/before" "$work/after" || { echo "these files are left, or gone" >&2; exit 1; }
rm -r "$work"
echo "removed, and nothing is left"
