// JSON that a stranger has written.
#ifndef ATTUNE_BASE_JSON_OBJECT_H_
#define ATTUNE_BASE_JSON_OBJECT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace attune {

// Reads an object that is not nested too deeply: writing nested JSON is recursive. Json: nlohmann::json or
// nlohmann::ordered_json.
template <typename Json>
absl::StatusOr<Json> ParseJsonObject(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_BASE_JSON_OBJECT_H_
