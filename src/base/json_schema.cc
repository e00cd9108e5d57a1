#include "base/json_schema.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <regex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

using Json = nlohmann::json;

// Whether it is one however it is written: 7.0 is one too, as far as a double tells integers apart.
bool IsInteger(const Json& value) {
  constexpr double kMost = 0x1p53;
  if (!value.is_number_float()) return value.is_number_integer();
  const auto number = value.get<double>();
  return number == std::trunc(number) && std::abs(number) <= kMost;
}

bool IsOfType(const Json& value, std::string_view type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return IsInteger(value);
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  return value.is_object();
}

template <typename... Parts>
absl::Status Wrong(const std::string& pointer, const Parts&... parts) {
  return InvalidInput(pointer.empty() ? "the body" : Printable(pointer), ": ", parts...);
}

absl::Status CheckType(const Json& value, const JsonSchema& schema, const std::string& pointer) {
  std::vector<std::string> types;
  const JsonSchema& type = schema["type"];
  for (const JsonSchema& one : type.is_array() ? type : JsonSchema::array({type}))
    types.push_back(one.get<std::string>());
  if (std::ranges::any_of(types, [&](const std::string& one) { return IsOfType(value, one); }))
    return absl::OkStatus();
  return Wrong(pointer, "should be of type ", absl::StrJoin(types, " or "), ", and is ", value.type_name());
}

absl::Status CheckEnum(const Json& value, const JsonSchema& choices, const std::string& pointer) {
  if (std::ranges::any_of(choices, [&](const JsonSchema& choice) { return Json(choice) == value; }))
    return absl::OkStatus();
  std::vector<std::string> texts;
  for (const JsonSchema& choice : choices) texts.push_back(choice.dump());
  return Wrong(pointer, "should be one of ", absl::StrJoin(texts, ", "));
}

size_t CharactersOf(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

// Whether a size that the schema bounds is out of its bounds, and what they are.
absl::Status CheckBounds(double size, const JsonSchema& schema, const char* least, const char* most,
                         std::string_view unit, const std::string& pointer) {
  if (schema.contains(least) && size < schema[least].get<double>())
    return Wrong(pointer, "should have at least ", schema[least].dump(), unit);
  if (schema.contains(most) && size > schema[most].get<double>())
    return Wrong(pointer, "should have at most ", schema[most].dump(), unit);
  return absl::OkStatus();
}

absl::Status CheckText(const std::string& text, const JsonSchema& schema, const std::string& pointer) {
  RETURN_IF_ERROR(CheckBounds(static_cast<double>(CharactersOf(text)), schema, "minLength", "maxLength",
                              " characters", pointer));
  if (!schema.contains("pattern")) return absl::OkStatus();
  const auto pattern = schema["pattern"].get<std::string>();
  // To make one takes longer than to match it.
  thread_local std::map<std::string, std::regex> known;
  const auto found = known.try_emplace(pattern, pattern).first;
  if (std::regex_search(text, found->second)) return absl::OkStatus();
  return Wrong(pointer, "\"", Printable(text), "\" should match ", pattern);
}

std::string Below(const std::string& pointer, std::string_view key) {
  return absl::StrCat(pointer, "/", absl::StrReplaceAll(key, {{"~", "~0"}, {"/", "~1"}}));
}

absl::Status CheckObject(const Json& object, const JsonSchema& schema, const JsonSchema& definitions,
                         const std::string& pointer) {
  if (schema.contains("required")) {
    for (const JsonSchema& name : schema["required"])
      if (!object.contains(name.get<std::string>()))
        return Wrong(Below(pointer, name.get<std::string>()), "is missing");
  }
  const bool is_closed = schema.contains("additionalProperties") && schema["additionalProperties"] == false;
  const JsonSchema none = JsonSchema::object();
  const JsonSchema& properties = schema.contains("properties") ? schema["properties"] : none;
  for (const auto& [name, value] : object.items()) {
    if (properties.contains(name)) {
      RETURN_IF_ERROR(CheckJson(value, properties[name], definitions, Below(pointer, name)));
    } else if (is_closed) {
      return Wrong(Below(pointer, name), "is not a field of this object");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckArray(const Json& array, const JsonSchema& schema, const JsonSchema& definitions,
                        const std::string& pointer) {
  RETURN_IF_ERROR(
      CheckBounds(static_cast<double>(array.size()), schema, "minItems", "maxItems", " entries", pointer));
  if (!schema.contains("items")) return absl::OkStatus();
  for (size_t i = 0; i < array.size(); ++i)
    RETURN_IF_ERROR(CheckJson(array[i], schema["items"], definitions, Below(pointer, absl::StrCat(i))));
  return absl::OkStatus();
}

// Integers are compared as such: as doubles, those beyond 2^53 would not be told apart.
template <typename A, typename B>
bool IsLess(const A& a, const B& b) {
  if (a.is_number_float() || b.is_number_float()) return a.template get<double>() < b.template get<double>();
  const auto with = [](const auto& json, const auto& use) {
    return json.is_number_unsigned() ? use(json.template get<uint64_t>()) : use(json.template get<int64_t>());
  };
  return with(a, [&](auto one) { return with(b, [&](auto other) { return std::cmp_less(one, other); }); });
}

absl::Status CheckNumber(const Json& number, const JsonSchema& schema, const std::string& pointer) {
  if (schema.contains("minimum") && IsLess(number, schema["minimum"]))
    return Wrong(pointer, "should be at least ", schema["minimum"].dump());
  if (schema.contains("maximum") && IsLess(schema["maximum"], number))
    return Wrong(pointer, "should be at most ", schema["maximum"].dump());
  return absl::OkStatus();
}

}  // namespace

JsonSchema SchemaNamed(std::string_view name) { return {{"$ref", absl::StrCat(kSchemaReference, name)}}; }

JsonSchema ObjectSchema(const JsonSchema& properties, const std::vector<std::string>& optional) {
  JsonSchema schema = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  schema["required"] = JsonSchema::array();
  for (const auto& [name, property] : properties.items())
    if (std::ranges::find(optional, name) == optional.end()) schema["required"].push_back(name);
  return schema;
}

absl::Status CheckJson(const Json& value, const JsonSchema& schema, const JsonSchema& definitions,
                       const std::string& pointer) {
  if (schema.contains("$ref")) {
    const auto reference = schema["$ref"].get<std::string>();
    return CheckJson(value, definitions.at(reference.substr(kSchemaReference.size())), definitions, pointer);
  }
  if (schema.contains("type")) RETURN_IF_ERROR(CheckType(value, schema, pointer));
  if (schema.contains("enum")) RETURN_IF_ERROR(CheckEnum(value, schema["enum"], pointer));
  if (value.is_string()) return CheckText(value.get<std::string>(), schema, pointer);
  if (value.is_number()) return CheckNumber(value, schema, pointer);
  if (value.is_array()) return CheckArray(value, schema, definitions, pointer);
  if (value.is_object()) return CheckObject(value, schema, definitions, pointer);
  return absl::OkStatus();
}

}  // namespace attune
