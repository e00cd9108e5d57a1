#!/usr/bin/env bash
# Packs the Python package from build/release into build/dist/, as a wheel that has all it needs inside.
set -euo pipefail
cd "$(dirname "$0")/.."

export PATH=$PWD/build/python/bin:$PATH
dist=$PWD/build/dist work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$dist"
{
  python -m build --wheel --no-isolation --outdir "$work" python
  auditwheel repair --plat manylinux_2_36_x86_64 --wheel-dir "$work/repaired" "$work"/*.whl
} > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
rm -f "$dist"/attune_compiler-*.whl
mv "$work"/repaired/*.whl "$dist/"
ls -l "$dist"/attune_compiler-*.whl
