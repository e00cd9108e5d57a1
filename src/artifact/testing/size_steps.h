// The steps of code over sizes, by short names, for tests.
#ifndef ATTUNE_ARTIFACT_TESTING_SIZE_STEPS_H_
#define ATTUNE_ARTIFACT_TESTING_SIZE_STEPS_H_

#include "artifact/artifact.h"

namespace attune::testing {

constexpr SizeStep Constant(int64_t value) { return {SizeOpcode::kConstant, value}; }
constexpr SizeStep Size(int64_t index) { return {SizeOpcode::kSize, index}; }
inline constexpr SizeStep kPlus = {SizeOpcode::kAdd, 0};
inline constexpr SizeStep kTimes = {SizeOpcode::kMul, 0};
inline constexpr SizeStep kOver = {SizeOpcode::kFloorDiv, 0};
inline constexpr SizeStep kModulo = {SizeOpcode::kMod, 0};
inline constexpr SizeStep kLesser = {SizeOpcode::kMin, 0};
inline constexpr SizeStep kLarger = {SizeOpcode::kMax, 0};

}  // namespace attune::testing

#endif  // ATTUNE_ARTIFACT_TESTING_SIZE_STEPS_H_
