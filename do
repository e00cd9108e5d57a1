#!/usr/bin/env bash
# The one entry point: ./do without arguments says what there is.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
  cat <<'TEXT'
./do demo [--tune SECONDS]       compile, tune and quantize trained networks, beside onnxruntime; sets up all it needs
./do test [ctest arguments]     build and run all tests; sets up all it needs
./do test-elsewhere [busy] [x86-64-v3] [x86-64-v4] [ctest arguments]
                                run the built tests as on other machines: beside four busy loops, with AVX2 alone, with
                                AVX-512 alone; by default as on each of them
./do setup                      install the packages that the build and the tests need
./do wheel                      make the Python package, as a wheel and as an sdist, in build/dist/
./do deps                       make in build/deps what portable binaries are linked with, some 10 minutes
./do portable                   make wheels, Debian packages, a tar archive and the runtime in two files for other Linux
                                systems, in build/dist/portable/, and as root try them in other Debians; at most 75 minutes
./do deb                        make the Debian packages, in build/dist/
./do images [--twice]           make container images of compiler, agent, server and runtime, in build/dist/; as root
./do build [preset]             the programs and libraries, in build/PRESET: release (default), debug, asan, tsan or fuzz
./do bench [options] [network ...]
                                compare latency with other engines, with --int8 on integer networks, with --wide on a
                                hundred networks outside the suite, or with another commit; ./do bench --help
./do study [options] [network ...]
                                measure the cost and gain of fewer bits: throughput, latency, power, energy, size,
                                agreement; ./do study --help
./do pretrain [options]         measure random kernels, and learn the cost model that tuning starts with from them
./do experiments [options]      measure the gain of tuning, and of each of its parts; ./do experiments --help
./do promises [options]         judge the service's predictions on networks that it has not learned from;
                                ./do promises --help
./do scheduling [options]       measure the gain of running many tuning jobs at a time, and show that it distorts no
                                measurement; ./do scheduling --help
./do accuracy [options]         compare the accuracy of quantized networks with other tools; ./do accuracy --help
./do page-types                 generate the web page's types from the service's OpenAPI document
./do reference                  make the reference of C, C++, Python and REST, in build/reference/
./do fmt                        format the sources in place
./do lint [--fast]              format, includes, names, classes, map, prose and (without --fast) clang-tidy
./do probes [--check] [probe ...]
                                apply patches that each add one thing, such as a pass, count the files that they touch, and
                                run their tests; --check does not build
./do fuzz [target] [seconds]    search for crashes under the sanitizers; all targets, 60 seconds each
./do fuzz wire [conversations] [seed]
                                run agents, runners, clients and device hosts that lie to a server, under the
                                sanitizers; 100,000 of each kind
./do fuzz graphs [seconds] [--seed N ...]
                                run random graphs through compiler and runtime, and compare with the reference;
                                failures are minimized in build/fuzz/graphs
TEXT
}

sources() { find benchmarks docs include python src tests -name '*.cc' -o -name '*.h' -o -name '*.c' -o -name '*.hpp'; }

# stage NAME COMMAND...  runs a command, and says how long it took.
stage() {
  local start=$SECONDS
  "${@:2}"
  echo "$1 took $((SECONDS - start)) s" >&2
}

# Builds without tests, unless the variable `tests` is ON.
build() {
  local preset=${1:-release}
  tools/setup.sh
  local page=()
  case $preset in release | portable) page=(-DATTUNE_PAGE=ON) ;; esac
  cmake --preset "$preset" -Wno-dev -DATTUNE_TESTS="${tests:-OFF}" "${page[@]}" >&2
  cmake --build --preset "$preset" "${@:2}" >&2
}

# Says first what it will do and for how long; with --help, only that.
demo() {
  local tune=60 processors start
  case "$*" in
    "" | --help) ;;
    "--tune "[1-9]*) tune=$2 ;;
    *) usage >&2; exit 2 ;;
  esac
  processors=$(nproc)
  cat <<TEXT
./do demo takes trained networks from PyPI: two that read text in photos, and one that sees which way up a photo is. What was
installed and built before stays.
  install           packages of Debian and PyPI, 1.5 GB: as long as the network takes
  build             the compiler alone, on all $processors processors: about $((12 / processors + 1)) min
  compile and read  each network, and have ONNX Runtime read the same photo: seconds
  tune              each network for $tune s: about $(((3 * tune + 90) / 60)) min
  quantize          one network to 8-bit integers, with a verdict: seconds
  measure           before and after tuning, one thread and two, beside ONNX Runtime: about 1 min
  run from C        one network, by the runtime library alone: seconds
All files are in build/.

TEXT
  [ "$*" != --help ] || return 0
  start=$SECONDS
  echo install >&2
  tools/setup.sh demo
  PYTHONPATH=$PWD/tools build/demo/python/bin/python -m demo --installed-s $((SECONDS - start)) --tune "$tune"
}

deb() { PYTHONPATH=$PWD/tools python3 -m packages.deb; }

deps() {
  tools/setup.sh portable
  PYTHONPATH=$PWD/tools build/python/bin/python -m packages.deps
}

portable() {
  stage deps deps
  stage build build portable
  export BUILD=$PWD/build/portable PYTHONPATH=$PWD/tools PATH=$PWD/build/python/bin:$PATH
  stage wheels tools/wheel.sh portable
  python -m packages.runtime_wheel
  stage debs deb
  stage archive python -m packages.archive
  stage tests python tests/package/portable_test.py
  if [ "$(id -u)" -ne 0 ]; then
    echo "not tried in other Debians, which takes root: sudo -E ./do portable" >&2
    return
  fi
  stage chroots python -m packages.chroots
}

run_tests() {
  stage setup tools/setup.sh tests
  tests=ON stage build build release
  echo "wheel and Debian packages are tested as built on this Debian's libraries; ./do portable tests those for other systems" >&2
  stage wheel tools/wheel.sh
  stage deb deb
  # No test has a limit of time of its own: how long is long depends on the machine. One that hangs is ended, so that it
  # says what it was about; the slowest takes two minutes on an idle machine.
  stage tests ctest --test-dir build/release --output-on-failure --no-tests=error --timeout 1800 "$@"
  echo "screenshots of the page: build/release/screenshots" >&2
}

lint() {
  tools/setup.sh
  python3 tools/check_includes.py
  python3 tools/check_names.py
  python3 tools/check_classes.py
  python3 tools/check_map.py
  python3 tools/check_prose.py
  sources | xargs clang-format-19 --dry-run --Werror
  [ "${1:-}" = --fast ] && return
  cmake --preset lint -Wno-dev >&2
  # Sources include what is generated here.
  cmake --build --preset lint --target attune_protos attune_tflite_generate >&2
  python3 tools/lint/tidy.py build/lint
}

fuzz() {
  local target=${1:-all} seconds=${2:-60}
  if [ "$target" = graphs ]; then
    tests=ON build release --target graph_fuzz
    build/release/bin/graph_fuzz --seconds "$seconds" --failures build/fuzz/graphs "${@:3}"
    return
  fi
  if [ "$target" = wire ]; then
    tests=ON build asan --target fleet_host_test fleet_server_test service_queue_test
    export ATTUNE_FUZZED_CONVERSATIONS=${2:-100000} ATTUNE_FUZZ_SEED=${3:-1}
    build/asan/bin/fleet_host_test --gtest_filter='LyingHost.*'
    build/asan/bin/fleet_server_test --gtest_filter='LiarsTest.*'
    build/asan/bin/service_queue_test --gtest_filter='LyingRunnersTest.*'
    return
  fi
  build fuzz --target fuzzers
  for program in build/fuzz/bin/*_fuzz; do
    local name
    name=$(basename "$program" _fuzz)
    [ "$target" = all ] || [ "$target" = "$name" ] || continue
    mkdir -p "build/fuzz/corpus/$name"
    "$program" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 \
      -artifact_prefix="build/fuzz/" "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name"
  done
}

command=${1:-help}
shift || true
case $command in
  setup) tools/setup.sh tests ;;
  build) build "$@" ;;
  test) run_tests "$@" ;;
  test-elsewhere) tests/on_any_machine.sh "$@" ;;
  wheel) tools/setup.sh python; tools/wheel.sh ;;
  deps) deps ;;
  portable) portable ;;
  deb) tools/setup.sh; build release; deb ;;
  images)
    tools/setup.sh images
    build release
    deb
    PYTHONPATH=$PWD/tools python3 -m packages.images "$@"
    ;;
  demo) demo "$@" ;;
  bench)
    tools/setup.sh bench
    build release --target attune
    PYTHONPATH=$PWD/tools build/bench/python/bin/python -m bench "$@"
    ;;
  study)
    tools/setup.sh bench
    build release --target attune attune_runtime_shared
    PYTHONPATH=$PWD/tools build/bench/python/bin/python -m study "$@"
    ;;
  pretrain)
    tools/setup.sh
    build release --target attune
    PYTHONPATH=$PWD/tools python3 -m tuning.pretrain "$@"
    ;;
  experiments)
    tools/setup.sh python
    build release --target attune
    PYTHONPATH=$PWD/tools build/python/bin/python -m tuning.experiments "$@"
    ;;
  promises)
    tools/setup.sh python
    build release --target attune attune_server
    PYTHONPATH=$PWD/tools build/python/bin/python -m promises "$@"
    ;;
  scheduling)
    tools/setup.sh python
    build release --target attune attune_server
    PYTHONPATH=$PWD/tools build/python/bin/python -m scheduling "$@"
    ;;
  accuracy)
    tools/setup.sh bench
    build release --target attune attune_runtime_shared
    PYTHONPATH=$PWD/tools build/bench/python/bin/python -m accuracy "$@"
    ;;
  page-types) tools/setup.sh tests; build release --target attune attune_server; PYTHONPATH=$PWD/tools python3 -m generators.page_types ;;
  reference) tools/setup.sh; build release --target attune attune_server; PYTHONPATH=$PWD/tools python3 -m generators.reference ;;
  fmt) tools/setup.sh; sources | xargs clang-format-19 -i ;;
  lint) lint "$@" ;;
  probes) tools/setup.sh; PYTHONPATH=$PWD/tools python3 -m probes "$@" ;;
  fuzz) fuzz "$@" ;;
  help | -h | --help) usage ;;
  *) usage >&2; exit 2 ;;
esac
