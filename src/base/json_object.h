// JSON that a stranger has written.
#ifndef ATTUNE_BASE_JSON_OBJECT_H_
#define ATTUNE_BASE_JSON_OBJECT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "nlohmann/json.hpp"

namespace attune {

// Reads an object that is not nested too deeply: writing nested JSON is recursive.
template <typename Json>
absl::StatusOr<Json> ParseJsonObject(std::string_view text) {
  constexpr int kMostNesting = 100;
  bool is_too_deep = false;
  const auto limit_depth = [&](int depth, typename Json::parse_event_t, Json&) {
    is_too_deep |= depth > kMostNesting;
    return !is_too_deep;
  };
  Json json = Json::parse(text, limit_depth, /*allow_exceptions=*/false);
  if (is_too_deep) return InvalidInput("JSON nested more than ", kMostNesting, " deep");
  if (!json.is_object()) return InvalidInput("not a JSON object");
  return json;
}

}  // namespace attune

#endif  // ATTUNE_BASE_JSON_OBJECT_H_
