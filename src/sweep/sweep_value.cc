#include "sweep/sweep_value.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {

std::string SweepValueText(const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const nlohmann::json& item : value)
    absl::StrAppend(&text, text.empty() ? "" : " ", SweepValueText(item));
  return text;
}

absl::Status CheckSweepValue(const nlohmann::json& value) {
  const auto is_scalar = [](const nlohmann::json& item) { return item.is_primitive() && !item.is_null(); };
  if (value.is_null() || is_scalar(value)) {
    if (value.is_string() && value.get_ref<const std::string&>().empty())
      return InvalidInput("is empty; write ~ to leave the option out");
    if (value.is_string() && value.get_ref<const std::string&>().find('\0') != std::string::npos)
      return InvalidInput("has a null character");
    return absl::OkStatus();
  }
  if (value.is_array() && !value.empty() && std::ranges::all_of(value, is_scalar)) {
    for (const nlohmann::json& item : value) RETURN_IF_ERROR(CheckSweepValue(item));
    return absl::OkStatus();
  }
  return InvalidInput("is not a number, text, true or false, or a list of these");
}

}  // namespace attune
