// For tests: fused groups compiled for this machine, run on random data, and compared with the reference.
#ifndef ATTUNE_LOWER_KERNEL_UNDER_TEST_H_
#define ATTUNE_LOWER_KERNEL_UNDER_TEST_H_

#include <functional>
#include <string>
#include <vector>

#include "lower/group_under_test.h"
#include "target/target.h"

namespace attune {

// Schedules each group with every strategy that applies, compiles all for `target`, links them at once,
// runs them, and reports groups that differ from the reference or do not compile as test failures.
void ExpectKernelsMatch(const std::vector<OperatorCase>& cases, const Target& target);
void ExpectKernelsMatch(const std::vector<std::string>& groups, const Target& target);

// Calls `check` with this machine, and with AVX2 if this machine has more.
void ForTargets(const std::function<void(const Target&)>& check);

// The same for each of these targets.
void ExpectKernelsMatch(const std::vector<OperatorCase>& cases);
void ExpectKernelsMatch(const std::vector<std::string>& groups);

}  // namespace attune

#endif  // ATTUNE_LOWER_KERNEL_UNDER_TEST_H_
