// Reads YAML that people write, as JSON: quoted scalars are texts, others what they look like.
#ifndef ATTUNE_WORK_FILE_YAML_H_
#define ATTUNE_WORK_FILE_YAML_H_

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace attune {

// A document, or one value: a number, true or false, a text, or a list of them. Depth and size are bounded.
// Errors name the line.
absl::StatusOr<nlohmann::json> ParseYaml(const std::string& text);
// The same, but mappings keep the order of their keys. For small documents: the time grows with the square of
// a mapping's keys.
absl::StatusOr<nlohmann::ordered_json> ParseOrderedYaml(const std::string& text);

}  // namespace attune

#endif  // ATTUNE_WORK_FILE_YAML_H_
