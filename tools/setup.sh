#!/usr/bin/env bash
# setup.sh           installs what the build needs, from Debian
# setup.sh python    also makes the Python environment of the tests and the demo, in build/python
#
# Quick where everything is there already.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  # compilers and build tools
  clang-19 clang-format-19 clang-tidy-19 lld-19 libclang-rt-19-dev cmake ninja-build ccache
  # what codegen links
  llvm-19-dev liblld-19-dev zlib1g-dev libzstd-dev libxml2-dev
  # what the other folders use
  libabsl-dev libprotobuf-dev protobuf-compiler nlohmann-json3-dev libssl-dev libjpeg-dev libpng-dev
  libcli11-dev libspdlog-dev
  # tests, benchmarks and the demo
  libgtest-dev libgmock-dev python3 python3-venv ca-certificates
)

# Peers that results are compared with. The product needs none of them.
python_packages=(numpy==2.4.6 onnxruntime==1.31.1 flatbuffers==25.12.19 packaging==26.3 pillow==13.0.0
  protobuf==7.36.2)

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]}" >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >&2
fi

if [ "${1:-}" = python ]; then
  stamp=build/python/installed.txt
  if [ "$(cat $stamp 2>/dev/null)" != "${python_packages[*]}" ]; then
    python3 -m venv --clear build/python
    build/python/bin/pip install --quiet --disable-pip-version-check "${python_packages[@]}" >&2
    echo "${python_packages[*]}" > $stamp
  fi
fi
