#!/usr/bin/env bash
# on_any_machine.sh [MACHINE...] [ctest arguments]    runs the built tests as on other machines. A MACHINE is
#
#   busy         this one, beside four busy loops
#   x86-64-v3    one with AVX2 alone
#   x86-64-v4    one with AVX-512 and nothing beyond, where this one has that
#
# and by default it is each of them in turn. Fails if a test fails on any.
set -euo pipefail
cd "$(dirname "$0")/.."

machines=()
while [[ ${1:-} =~ ^(busy|x86-64-v3|x86-64-v4)$ ]]; do
  machines+=("$1")
  shift
done
[ ${#machines[@]} -gt 0 ] || machines=(busy x86-64-v3 x86-64-v4)

loops=()
end_loops() {
  [ ${#loops[@]} -eq 0 ] || kill "${loops[@]}" 2> /dev/null || true
  loops=()
}
trap end_loops EXIT
trap 'exit 130' INT TERM HUP

# Each loop also ends with this script if that is killed.
begin_loops() {
  local _
  for _ in 1 2 3 4; do
    setpriv --pdeathsig KILL bash -c 'while :; do :; done' &
    loops+=($!)
  done
}

has_avx512() {
  local flags
  flags=" $(grep -m1 '^flags' /proc/cpuinfo) "
  for flag in avx512f avx512bw avx512cd avx512dq avx512vl; do
    [[ $flags == *" $flag "* ]] || return 1
  done
}

run() { ctest --test-dir build/release --output-on-failure --no-tests=error --timeout 3600 "$@"; }

failed=()
for machine in "${machines[@]}"; do
  if [ "$machine" = x86-64-v4 ] && ! has_avx512; then
    echo "x86-64-v4: this machine cannot run that" >&2
    continue
  fi
  echo "== $machine" >&2
  if [ "$machine" = busy ]; then
    begin_loops
    run "$@" || failed+=("$machine")
    end_loops
  else
    ATTUNE_HOST_CPU=$machine run "$@" || failed+=("$machine")
  fi
done
[ ${#failed[@]} -eq 0 ] || { echo "tests fail on: ${failed[*]}" >&2; exit 1; }
