// The values that options have in a sweep.
#ifndef ATTUNE_SWEEP_SWEEP_VALUE_H_
#define ATTUNE_SWEEP_SWEEP_VALUE_H_

#include <string>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace attune {

// A number, a text, true or false as one would write it; nothing for null; the values of a list, separated by
// spaces.
std::string SweepValueText(const nlohmann::json& value);

// Ok if the value is a scalar, or a list of scalars that are not null.
absl::Status CheckSweepValue(const nlohmann::json& value);

}  // namespace attune

#endif  // ATTUNE_SWEEP_SWEEP_VALUE_H_
