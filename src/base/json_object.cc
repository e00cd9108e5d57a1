#include "base/json_object.h"

#include "base/status.h"

namespace attune {

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

template absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view text);
template absl::StatusOr<nlohmann::ordered_json> ParseJsonObject(std::string_view text);

}  // namespace attune
