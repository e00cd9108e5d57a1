#!/usr/bin/env bash
# Packs the Python package into build/dist/: from build/release, as a wheel that has all it needs inside, and as the
# sources that others build one from.
set -euo pipefail
cd "$(dirname "$0")/.."

export PATH=$PWD/build/python/bin:$PATH
dist=$PWD/build/dist work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$dist"
{
  python -m build --sdist --no-isolation --outdir "$work/sdist" .
  python -m build --wheel --no-isolation --outdir "$work" .
  auditwheel repair --plat manylinux_2_36_x86_64 --wheel-dir "$work/repaired" "$work"/*.whl
} > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
rm -f "$dist"/attune_compiler-*.whl "$dist"/attune_compiler-*.tar.gz
mv "$work"/repaired/*.whl "$work"/sdist/*.tar.gz "$dist/"
ls -l "$dist"/attune_compiler-*
