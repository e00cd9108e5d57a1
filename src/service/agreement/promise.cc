#include "service/agreement/promise.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/json_numbers.h"
#include "base/status.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 6> kNames = {"unknown",    "expected", "at_risk",
                                                    "impossible", "met",      "broken"};

Json OrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

double OrInfinite(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : NumberOf(json);
}

}  // namespace

std::string_view Name(PromiseState state) { return kNames[static_cast<size_t>(state)]; }

std::optional<PromiseState> ParsePromiseState(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<PromiseState>(i);
  return std::nullopt;
}

PromiseState StateOfProbability(double probability) {
  return probability >= kEnough ? PromiseState::kExpected : PromiseState::kAtRisk;
}

Promise Judged(Promise promise, const PromiseRange& measured, std::string evidence) {
  const bool is_met = measured.high <= promise.limit;
  promise.state = is_met ? PromiseState::kMet : PromiseState::kBroken;
  promise.probability = is_met ? 1 : 0;
  promise.range = measured;
  promise.evidence = {std::move(evidence)};
  return promise;
}

Json ToJson(const PromiseRange& range) {
  return {{"low", range.low}, {"median", range.median}, {"high", OrNull(range.high)}};
}

PromiseRange RangeOfJson(const Json& json) {
  if (json.is_null()) return {};
  return {NumberOf(json.at("low")), NumberOf(json.at("median")), OrInfinite(json.at("high"))};
}

Json ToJson(const Promise& promise) {
  return {{"name", promise.name},
          {"limit", promise.limit},
          {"state", Name(promise.state)},
          {"probability", promise.probability},
          {"low", promise.range.low},
          {"median", promise.range.median},
          {"high", OrNull(promise.range.high)},
          {"evidence", promise.evidence}};
}

Json ToJson(const std::vector<Promise>& promises) {
  Json list = Json::array();
  for (const Promise& promise : promises) list.push_back(ToJson(promise));
  return list;
}

absl::StatusOr<std::vector<Promise>> PromisesOfJson(const Json& json) {
  std::vector<Promise> promises;
  try {
    for (const Json& item : json) {
      const auto state = ParsePromiseState(item.at("state").get<std::string>());
      if (!state.has_value()) return InvalidInput("a promise has no known state");
      promises.push_back({.name = item.at("name"),
                          .limit = NumberOf(item.at("limit")),
                          .state = *state,
                          .probability = NumberOf(item.at("probability"), 0, 1),
                          .range = RangeOfJson(item),
                          .evidence = item.at("evidence").get<std::vector<std::string>>()});
    }
  } catch (const Json::exception& error) {
    return InvalidInput("promises: ", error.what());
  }
  return promises;
}

}  // namespace attune
