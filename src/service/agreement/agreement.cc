#include "service/agreement/agreement.h"

#include <algorithm>
#include <array>

#include "base/status.h"
#include "work/sched/priority_class.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr double kMostMs = 1e9, kMostBytes = 1e15, kMostSeconds = 1e9;

struct Row {
  const char* place;
  std::optional<double> Agreement::* field;
  double most;
  bool may_be_zero = false;
};
constexpr std::array<Row, 6> kRows = {{{"/latency_ms/mean", &Agreement::mean_ms, kMostMs},
                                       {"/latency_ms/p99", &Agreement::p99_ms, kMostMs},
                                       {"/accuracy_loss", &Agreement::accuracy_loss, 1, true},
                                       {"/size_bytes", &Agreement::size_bytes, kMostBytes},
                                       {"/deadline_seconds", &Agreement::deadline_seconds, kMostSeconds},
                                       {"/device_seconds", &Agreement::device_seconds, kMostSeconds}}};
constexpr char kPriority[] = "/priority", kLeast[] = "/least_probability";

absl::Status CheckKnown(const Json& json, const std::string& place = "") {
  if (!json.is_object()) return InvalidInput(place, ": is not an object");
  for (const auto& [key, value] : json.items()) {
    const std::string inner = place + "/" + key;
    if (inner == kPriority || inner == kLeast || std::ranges::find(kRows, inner, &Row::place) != kRows.end())
      continue;
    if (inner != "/latency_ms") return InvalidInput(inner, ": is unknown");
    RETURN_IF_ERROR(CheckKnown(value, inner));
  }
  return absl::OkStatus();
}

absl::StatusOr<double> NumberAt(const Json& json, const char* place, double most, bool may_be_zero) {
  const Json& value = json[Json::json_pointer(place)];
  if (value.is_number()) {
    const auto number = value.get<double>();
    if (number <= most && (number > 0 || (may_be_zero && number == 0))) return number;
  }
  return InvalidInput(place, ": is not a number above 0", may_be_zero ? " or equal to it" : "", ", at most ",
                      most);
}

}  // namespace

Json ToJson(const Agreement& agreement) {
  Json json = {{"priority", agreement.priority}, {"least_probability", agreement.least_probability}};
  for (const Row& row : kRows)
    if (const auto& value = agreement.*row.field) json[Json::json_pointer(row.place)] = *value;
  return json;
}

absl::StatusOr<Agreement> AgreementOfJson(const Json& json) {
  RETURN_IF_ERROR(CheckKnown(json));
  Agreement agreement;
  for (const Row& row : kRows) {
    if (!json.contains(Json::json_pointer(row.place))) continue;
    ASSIGN_OR_RETURN(agreement.*row.field, NumberAt(json, row.place, row.most, row.may_be_zero));
  }
  if (json.contains("least_probability")) {
    ASSIGN_OR_RETURN(agreement.least_probability, NumberAt(json, kLeast, 1, /*may_be_zero=*/true));
  }
  if (!json.contains("priority")) return agreement;
  if (!json["priority"].is_string() || FindPriorityClass(json["priority"].get<std::string>()) == nullptr)
    return InvalidInput(kPriority, ": is not a class of priority");
  agreement.priority = json["priority"];
  return agreement;
}

}  // namespace attune
