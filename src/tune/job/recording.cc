#include "tune/job/recording.h"

#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/json_numbers.h"
#include "base/status.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxRecordingBytes = int64_t{1} << 30;

// The key of an event other than a measurement; nothing for events that are not replayed.
std::optional<std::string> SubjectOf(const std::string& event, const Json& fields) {
  if (event == "compare") return CandidateKey(fields.at("task"), fields.at("candidate"));
  if (event == "layout") return absl::StrCat(IntegerOf(fields.at("class"), 0, INT32_MAX));
  if (event == "network" || event == "calibrate") return "";
  return std::nullopt;
}

// Removes and returns the first element of a queue.
template <typename Key, typename T>
std::optional<T> TakeNext(std::map<Key, std::deque<T>>& queues, const std::type_identity_t<Key>& key) {
  const auto found = queues.find(key);
  if (found == queues.end() || found->second.empty()) return std::nullopt;
  T first = std::move(found->second.front());
  found->second.pop_front();
  return first;
}

}  // namespace

std::string CandidateKey(const std::string& task, const std::string& candidate) {
  return absl::StrCat(task, " ", candidate);
}

Json ToJson(const Measurement& m) {
  Json fields = {{"outcome", Name(m.outcome)}, {"took", m.seconds}};
  if (!m.reason.empty()) fields["reason"] = m.reason;
  if (m.outcome != TrialOutcome::kOk) return fields;
  fields["timing"] = {m.timing.seconds, m.timing.low, m.timing.high, m.timing.repetitions};
  if (m.abandoned) fields["abandoned"] = true;
  if (m.ratio <= 0) return fields;
  fields["baseline_seconds"] = m.baseline_seconds;
  fields["ratio"] = {m.ratio, m.ratio_low, m.ratio_high};
  fields["is_significant"] = m.is_significant;
  fields["normalized_seconds"] = m.normalized_seconds;
  return fields;
}

absl::StatusOr<Measurement> MeasurementOfJson(const Json& fields) {
  try {
    Measurement m;
    const std::string name = fields.at("outcome");
    const std::optional<TrialOutcome> outcome = ParseTrialOutcome(name);
    if (!outcome.has_value()) return InvalidInput("there is no outcome \"", name, "\"");
    m.outcome = *outcome;
    m.reason = fields.value("reason", "");
    m.seconds = fields.at("took");
    if (m.outcome != TrialOutcome::kOk) return m;
    const Json& timing = fields.at("timing");
    m.timing = {NumberOf(timing.at(0)), NumberOf(timing.at(1)), NumberOf(timing.at(2)),
                IntegerOf(timing.at(3), 0, kMaxJsonInteger)};
    if (!(m.timing.seconds > 0)) return InvalidInput("a time that is not above 0");
    m.abandoned = fields.value("abandoned", false);
    if (!fields.contains("ratio")) return m;
    const Json& ratio = fields.at("ratio");
    m.baseline_seconds = fields.at("baseline_seconds");
    m.ratio = ratio.at(0);
    m.ratio_low = ratio.at(1);
    m.ratio_high = ratio.at(2);
    m.is_significant = fields.at("is_significant");
    m.normalized_seconds = fields.at("normalized_seconds");
    return m;
  } catch (const Json::exception& error) {
    return InvalidInput(error.what());
  }
}

Json ToJson(const Peaks& peaks) {
  return {{"gflops_per_core", peaks.gflops_per_core},
          {"bf16_gflops_per_core", peaks.bf16_gflops_per_core},
          {"int8_gops_per_core", peaks.int8_gops_per_core},
          {"l2_gb_per_s", peaks.l2_gb_per_s},
          {"l3_gb_per_s", peaks.l3_gb_per_s},
          {"memory_gb_per_s", peaks.memory_gb_per_s},
          {"l2_bytes", peaks.l2_bytes}};
}

absl::StatusOr<Peaks> PeaksOfJson(const Json& fields) {
  try {
    return Peaks{.gflops_per_core = NumberOf(fields.at("gflops_per_core")),
                 .bf16_gflops_per_core = NumberOf(fields.at("bf16_gflops_per_core")),
                 .int8_gops_per_core = NumberOf(fields.at("int8_gops_per_core")),
                 .l2_gb_per_s = NumberOf(fields.at("l2_gb_per_s")),
                 .l3_gb_per_s = NumberOf(fields.at("l3_gb_per_s")),
                 .memory_gb_per_s = NumberOf(fields.at("memory_gb_per_s")),
                 .l2_bytes = IntegerOf(fields.at("l2_bytes"), 0, kMaxJsonInteger)};
  } catch (const Json::exception& error) {
    return InvalidInput(error.what());
  }
}

absl::StatusOr<std::unique_ptr<Recording>> Recording::Load(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxRecordingBytes));
  auto recording = std::make_unique<Recording>();
  std::string job;
  int number = 0;
  for (const std::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    try {
      const Json fields = Json::parse(line);
      if (const std::string of = fields.at("job"); of != job) {
        job = of;
        *recording = Recording();
      }
      const std::string event = fields.at("event");
      if (event == "measurement") {
        const std::string key = CandidateKey(fields.at("task"), fields.at("candidate"));
        absl::StatusOr<Measurement> measurement = MeasurementOfJson(fields);
        if (!measurement.ok()) return Annotate(measurement.status(), absl::StrCat(path, ", line ", number));
        recording->measurements_[key].push_back(*std::move(measurement));
      } else if (const auto subject = SubjectOf(event, fields)) {
        recording->others_[{event, *subject}].push_back(fields);
      }
    } catch (const Json::exception& error) {
      return InvalidInput(path, ", line ", number, ": no event of a tuning run: ", error.what());
    }
  }
  if (recording->measurements_.empty())
    return InvalidInput(path, ": has no measurements; record a run with attune tune --events");
  return recording;
}

std::optional<Measurement> Recording::NextMeasurement(const std::string& task, const std::string& candidate) {
  ++asked_;
  std::optional<Measurement> next = TakeNext(measurements_, CandidateKey(task, candidate));
  if (!next.has_value()) ++missing_;
  return next;
}

std::optional<Json> Recording::Next(const std::string& event, const std::string& key) {
  ++asked_;
  std::optional<Json> next = TakeNext(others_, {event, key});
  if (!next.has_value()) ++missing_;
  return next;
}

}  // namespace attune
