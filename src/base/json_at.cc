#include "base/json_at.h"

namespace attune {
namespace {

using Json = nlohmann::json;

// Null if there is none.
const Json* Find(const Json& json, const std::string& pointer) {
  const Json::json_pointer place(pointer);
  return json.contains(place) ? &json[place] : nullptr;
}

}  // namespace

double NumberAt(const Json& json, const std::string& pointer, double otherwise) {
  const Json* value = Find(json, pointer);
  return value != nullptr && value->is_number() ? value->get<double>() : otherwise;
}

std::string TextAt(const Json& json, const std::string& pointer, const std::string& otherwise) {
  const Json* value = Find(json, pointer);
  return value != nullptr && value->is_string() ? value->get<std::string>() : otherwise;
}

bool FlagAt(const Json& json, const std::string& pointer, bool otherwise) {
  const Json* value = Find(json, pointer);
  return value != nullptr && value->is_boolean() ? value->get<bool>() : otherwise;
}

}  // namespace attune
