#!/usr/bin/env bash
# check_python.sh debug   runs the Python package's tests with the debug build of CPython, on the wheel in build/dist/
# check_python.sh asan    runs them under the address and undefined behaviour sanitizers, with which the extension is built,
#                         library and runtime included, in build/python-asan
#
# Apart from ./do test for the time and the packages that they need.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packages=(numpy==2.4.6 pytest==9.2.0)
tests=(-m pytest -q -p no:cacheprovider "$PWD/python/tests")
export ATTUNE=$PWD/build/release/bin/attune

case ${1:-} in
  debug)
    command -v python3.11-dbg > /dev/null || { echo "check_python.sh: install python3.11-dbg" >&2; exit 1; }
    python3.11-dbg -m venv "$work/environment"
    "$work/environment/bin/pip" install -q "${packages[@]}"
    "$work/environment/bin/pip" install -q --no-index --no-deps build/dist/attune_compiler-*.whl
    cd "$work"
    "$work/environment/bin/python" -X dev "${tests[@]}"
    ;;
  asan)
    python=$PWD/build/python/bin build=$PWD/build/python-asan
    PATH=$python:$PATH cmake --preset release -B "$build" -Wno-dev -DATTUNE_PYTHON=ON \
      -DATTUNE_PYTHON_SANITIZE=ON > /dev/null
    cmake --build "$build" --target attune_python
    cp -r python/attune "$work/attune"
    cp "$build"/python/attune/_core*.so "$build"/options/python/attune/_options.py "$build/lib/attune/attune-worker" "$work/attune/"
    # The program has no sanitizers, and an allocator of its own.
    printf '#!/bin/sh\nunset LD_PRELOAD\nexec "%s" "$@"\n' "$ATTUNE" > "$work/program"
    chmod +x "$work/program"
    export ATTUNE=$work/program
    # CPython does not free all that it has at its end.
    export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
    LD_PRELOAD=$(clang++-19 -print-file-name=libclang_rt.asan-x86_64.so)
    export LD_PRELOAD
    cd "$work"
    PYTHONPATH=$work "$python/python" "${tests[@]}"
    ;;
  *) usage ;;
esac
