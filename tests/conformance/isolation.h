// Runs cases each in a process of its own, so that a crash, or running too long, is a result as well.
#ifndef ATTUNE_TESTS_CONFORMANCE_ISOLATION_H_
#define ATTUNE_TESTS_CONFORMANCE_ISOLATION_H_

#include "case.h"

namespace attune::conformance {

// Up to `jobs` tasks at a time, each for at most `seconds`. Call it before the process has threads: each
// child is a copy of it.
Results RunIsolated(const Tasks& tasks, int jobs, int seconds);

}  // namespace attune::conformance

#endif  // ATTUNE_TESTS_CONFORMANCE_ISOLATION_H_
