// Values in JSON that a stranger has written, and that need not be there.
//
// nlohmann's own value() throws where a value has another type, null included.
#ifndef ATTUNE_BASE_JSON_AT_H_
#define ATTUNE_BASE_JSON_AT_H_

#include <string>

#include "nlohmann/json.hpp"

namespace attune {

// The value at a JSON pointer, such as "/judged/runs"; `otherwise` if there is none of this type.
double NumberAt(const nlohmann::json& json, const std::string& pointer, double otherwise = 0);
std::string TextAt(const nlohmann::json& json, const std::string& pointer, const std::string& otherwise = "");
bool FlagAt(const nlohmann::json& json, const std::string& pointer, bool otherwise = false);

}  // namespace attune

#endif  // ATTUNE_BASE_JSON_AT_H_
