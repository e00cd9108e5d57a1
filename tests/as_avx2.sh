#!/bin/sh
# as_avx2.sh COMMAND...    runs a test as on a machine with AVX2 alone. Exits with 77, which ctest counts as skipped,
# where the test runs so anyway.
case " $(grep -m1 '^flags' /proc/cpuinfo) " in
  *" avx512f "*) ;;
  *) echo "this machine has no AVX-512: the test itself is this one"; exit 77 ;;
esac
if [ -n "$ATTUNE_HOST_CPU" ]; then
  echo "ATTUNE_HOST_CPU=$ATTUNE_HOST_CPU already chooses the processor"
  exit 77
fi
ATTUNE_HOST_CPU=x86-64-v3 exec "$@"
