// Checks JSON against the part of JSON Schema (draft 2020-12) that our documents use.
#ifndef ATTUNE_BASE_JSON_SCHEMA_H_
#define ATTUNE_BASE_JSON_SCHEMA_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace attune {

// As it is written into a document: keys stay in their order.
using JsonSchema = nlohmann::ordered_json;

// A schema that is among the definitions.
inline constexpr std::string_view kSchemaReference = "#/components/schemas/";
JsonSchema SchemaNamed(std::string_view name);
// The schema of an object with these properties alone. The `optional` ones may be missing.
JsonSchema ObjectSchema(const JsonSchema& properties, const std::vector<std::string>& optional = {});

// Fails, naming the value by its JSON pointer, if it does not follow the schema. Knows $ref, type, enum,
// properties, required, additionalProperties (false), items, minItems, maxItems, minLength, maxLength (in
// characters), pattern, minimum and maximum; `definitions` are the named schemas. The schema must be ours,
// with no circle in it, and the value not deeply nested.
absl::Status CheckJson(const nlohmann::json& value, const JsonSchema& schema, const JsonSchema& definitions,
                       const std::string& pointer = "");

}  // namespace attune

#endif  // ATTUNE_BASE_JSON_SCHEMA_H_
