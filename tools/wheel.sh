#!/usr/bin/env bash
# wheel.sh             packs the Python package into build/dist/: from build/release, as a wheel that has all it needs inside, and
#                      as the sources that others build one from
# wheel.sh portable    packs what is for other systems into build/dist/portable/, from build/portable: a wheel for Python 3.11,
#                      and one for all later ones
set -euo pipefail
cd "$(dirname "$0")/.."

export PATH=$PWD/build/python/bin:$PATH
preset=${1:-release} work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $preset in
  release) platform=manylinux_2_36_x86_64 dist=$PWD/build/dist ;;
  portable) platform=manylinux_2_28_x86_64 dist=$PWD/build/dist/portable ;;
  *) sed -n '2,6s/^# //p' "$0" >&2; exit 2 ;;
esac
mkdir -p "$dist" "build/$preset"
PYTHONPATH=tools python -m packages.licences > "build/$preset/licences.txt"
rm -f "$dist"/attune_compiler-*
{
  python -m build --sdist --no-isolation --outdir "$work/sdist" .
  python -m build --wheel --no-isolation --outdir "$work/made" -C "cmake.args=--preset=$preset" -C "build-dir=build/$preset" .
  [ "$preset" = release ] || PYTHONPATH=tools python -m packages.stable_abi "$work"/made/*.whl
  for wheel in "$work"/made/*.whl; do
    auditwheel repair --plat "$platform" --wheel-dir "$work/repaired" "$wheel"
  done
} > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
mv "$work"/repaired/*.whl "$work"/sdist/*.tar.gz "$dist/"
ls -l "$dist"/attune_compiler-*
