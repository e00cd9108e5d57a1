#include "tune/records/record.h"

#include <algorithm>
#include <array>
#include <span>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "tune/records/record_json.h"

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kRunStates = {"running", "finished", "interrupted"};

constexpr int kMaxThreads = 1 << 16;
constexpr double kMaxSeconds = 1e9;
constexpr double kMaxFlops = 1e24;

// Control characters other than line ends and tabs control terminals, and are not allowed in any text.
bool IsForbidden(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
}

// The text with invalid UTF-8 replaced by U+FFFD.
std::string ValidUtf8(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

absl::Status CheckName(std::string_view field, const std::string& name, bool may_be_empty = false) {
  if (name.empty() && !may_be_empty) return InvalidInput("field \"", field, "\": must not be empty");
  if (name.size() > kMaxNameBytes) {
    return InvalidInput("field \"", field, "\": is longer than ", kMaxNameBytes, " bytes");
  }
  if (IsPrintable(name)) return absl::OkStatus();
  return InvalidInput("field \"", field, "\": must be printable ASCII");
}

absl::Status CheckText(std::string_view field, const std::string& text, size_t max_bytes) {
  if (text.size() > max_bytes) {
    return InvalidInput("field \"", field, "\": is longer than ", max_bytes, " bytes");
  }
  if (std::any_of(text.begin(), text.end(), IsForbidden)) {
    return InvalidInput("field \"", field, "\": has control characters");
  }
  if (ValidUtf8(text) != text) return InvalidInput("field \"", field, "\": must be UTF-8");
  return absl::OkStatus();
}

absl::Status CheckNumber(std::string_view field, double& value, double high) {
  if (!(value >= 0 && value <= high)) {
    return InvalidInput("field \"", field, "\": must be a number from 0 to ", high);
  }
  value += 0.0;  // a negative zero would be read back as a different number
  return absl::OkStatus();
}

absl::Status CheckInteger(std::string_view field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return InvalidInput("field \"", field, "\": must be an integer from ", low, " to ", high);
}

absl::Status CheckTiming(Timing& timing) {
  RETURN_IF_ERROR(CheckNumber("seconds", timing.seconds, kMaxSeconds));
  RETURN_IF_ERROR(CheckNumber("low", timing.low, kMaxSeconds));
  RETURN_IF_ERROR(CheckNumber("high", timing.high, kMaxSeconds));
  RETURN_IF_ERROR(CheckInteger("repetitions", timing.repetitions, 1, INT64_MAX));
  if (timing.seconds == 0) return InvalidInput("field \"seconds\": must not be 0");
  if (timing.low <= timing.seconds && timing.seconds <= timing.high) return absl::OkStatus();
  return InvalidInput("fields \"low\", \"seconds\" and \"high\": must be in this order");
}

// Makes any text storable: a reason may contain anything that a crashing program has printed.
void Clean(std::string& text, size_t max_bytes) {
  const size_t cut = max_bytes / 3;  // an invalid byte becomes three bytes
  if (text.size() > max_bytes) text.resize(cut);
  std::replace_if(text.begin(), text.end(), IsForbidden, '?');
  text = ValidUtf8(text);
  if (text.size() > max_bytes) text = ValidUtf8(text.substr(0, cut));
}

absl::Status CheckObject(std::string_view field, std::string& json) {
  if (json.size() > kMaxJsonBytes) {
    return InvalidInput("field \"", field, "\": is longer than ", kMaxJsonBytes, " bytes");
  }
  const absl::StatusOr<std::string> compact = CompactJsonObject(json);
  if (!compact.ok()) return InvalidInput("field \"", field, "\": ", compact.status().message());
  json = *compact;
  return absl::OkStatus();
}

}  // namespace

std::string_view Name(RunState state) { return kRunStates[static_cast<size_t>(state)]; }
std::optional<RunState> ParseRunState(std::string_view name) {
  const auto found = std::ranges::find(kRunStates, name);
  if (found == kRunStates.end()) return std::nullopt;
  return static_cast<RunState>(found - kRunStates.begin());
}

absl::Status Normalize(Record& record) {
  if (record.task.empty()) return InvalidInput("field \"task\": must not be empty");
  RETURN_IF_ERROR(CheckText("task", record.task, kMaxTaskBytes));
  RETURN_IF_ERROR(CheckNumber("flops", record.flops, kMaxFlops));
  RETURN_IF_ERROR(CheckName("strategy", record.strategy));
  RETURN_IF_ERROR(CheckInteger("strategy_version", record.strategy_version, 0, INT32_MAX));
  if (record.config.size() > kMaxConfigNumbers) {
    return InvalidInput("field \"config\": has more than ", kMaxConfigNumbers, " numbers");
  }
  for (const auto& [name, value] : record.config) RETURN_IF_ERROR(CheckName("config", name));
  RETURN_IF_ERROR(CheckName("device", record.device));
  RETURN_IF_ERROR(CheckInteger("threads", record.threads, 1, kMaxThreads));
  if (record.outcome == TrialOutcome::kOk) {
    RETURN_IF_ERROR(CheckTiming(record.timing));
    record.reason.clear();
  } else {
    record.timing = {};
    Clean(record.reason, kMaxReasonBytes);
  }
  RETURN_IF_ERROR(CheckName("run", record.run));
  RETURN_IF_ERROR(CheckInteger("trial", record.trial, 0, INT64_MAX));
  RETURN_IF_ERROR(CheckName("search", record.search));
  RETURN_IF_ERROR(CheckName("compiler", record.compiler_version));
  RETURN_IF_ERROR(CheckName("code_digest", record.code_digest, /*may_be_empty=*/true));
  RETURN_IF_ERROR(CheckInteger("time_ms", record.time_ms, 0, INT64_MAX));
  RETURN_IF_ERROR(CheckNumber("build_seconds", record.build_seconds, kMaxSeconds));
  return CheckNumber("measure_seconds", record.measure_seconds, kMaxSeconds);
}

absl::Status Normalize(TuningRun& run) {
  RETURN_IF_ERROR(CheckName("run", run.id));
  Clean(run.model, kMaxModelBytes);
  std::replace_if(run.model.begin(), run.model.end(), [](char c) { return c == '\n' || c == '\t'; }, '?');
  RETURN_IF_ERROR(CheckName("model_digest", run.model_digest, /*may_be_empty=*/true));
  RETURN_IF_ERROR(CheckName("device", run.device));
  RETURN_IF_ERROR(CheckInteger("threads", run.threads, 1, kMaxThreads));
  RETURN_IF_ERROR(CheckObject("options", run.options));
  RETURN_IF_ERROR(CheckInteger("start_ms", run.start_ms, 0, INT64_MAX));
  RETURN_IF_ERROR(CheckInteger("end_ms", run.end_ms, 0, INT64_MAX));
  RETURN_IF_ERROR(CheckNumber("untuned_seconds", run.untuned_seconds, kMaxSeconds));
  RETURN_IF_ERROR(CheckNumber("tuned_seconds", run.tuned_seconds, kMaxSeconds));
  return CheckObject("stage_seconds", run.stage_seconds);
}

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

}  // namespace attune
