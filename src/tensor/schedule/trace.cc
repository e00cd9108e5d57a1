#include "tensor/schedule/trace.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/status.h"

namespace attune {

std::string ToJson(const std::vector<Primitive>& trace) {
  std::string text = "[";
  for (size_t i = 0; i < trace.size(); ++i) {
    nlohmann::ordered_json line;
    line["op"] = trace[i].op;
    line["names"] = trace[i].names;
    line["numbers"] = trace[i].numbers;
    absl::StrAppend(&text, i == 0 ? "\n " : ",\n ", line.dump());
  }
  return text + "\n]\n";
}

absl::StatusOr<std::vector<Primitive>> ParseTrace(std::string_view json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_array()) return InvalidInput("schedule: not a JSON list of primitives");
  std::vector<Primitive> trace;
  for (const auto& item : parsed) {
    if (!item.is_object() || !item.contains("op") || !item["op"].is_string()) {
      return InvalidInput("schedule: primitive ", trace.size(), " has no \"op\"");
    }
    Primitive primitive{item["op"].get<std::string>(), {}, {}};
    for (const auto& name : item.value("names", nlohmann::json::array())) {
      if (!name.is_string())
        return InvalidInput("schedule: primitive ", trace.size(), ": names must be strings");
      primitive.names.push_back(name.get<std::string>());
    }
    for (const auto& number : item.value("numbers", nlohmann::json::array())) {
      if (!number.is_number_integer())
        return InvalidInput("schedule: primitive ", trace.size(), ": numbers must be integers");
      primitive.numbers.push_back(number.get<int64_t>());
    }
    trace.push_back(std::move(primitive));
  }
  return trace;
}

}  // namespace attune
