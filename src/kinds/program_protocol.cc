#include "kinds/program_protocol.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "base/json_object.h"
#include "base/printable.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "work/job/settings.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr double kMostSeconds = 1e9;
constexpr int64_t kMostAmount = 1'000'000'000;
constexpr size_t kMostTextBytes = 400;
constexpr size_t kMostNeeds = 100;

constexpr char kDeviceKey[] = "device";
constexpr char kDevicePrefix[] = "device/";

std::string Line(const Json& message) {
  // Names of files need not be UTF-8.
  return message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string Shortened(std::string_view text) {
  std::string out = WithoutControls(text.substr(0, kMostTextBytes));
  if (text.size() > kMostTextBytes) out += "...";
  return out;
}

absl::Status CheckNeed(const ResourceNeed& need, const JobPlace& place) {
  if (need.key == kProcessorsKey && need.amount > place.processors)
    return InvalidInput("asks for ", need.amount, " processors and can get ", place.processors);
  if (absl::StartsWith(need.key, kDevicePrefix) && std::ranges::count(place.devices, need.key) == 0)
    return InvalidInput("asks for the device \"", Printable(need.key), "\", which is not there");
  return absl::OkStatus();
}

absl::StatusOr<ResourceNeed> ReadNeed(const Json& json, const JobPlace& place) {
  ResourceNeed need;
  SettingsReader reader(json, "");
  reader.Read("key", need.key, /*needed=*/true);
  reader.Read("amount", need.amount, 1, kMostAmount);
  reader.Read("exclusive", need.exclusive);
  RETURN_IF_ERROR(reader.Finish());
  if (Printable(need.key) != need.key) return InvalidInput("key: is too long or not printable");
  if (need.key == kDeviceKey) {
    if (place.devices.empty()) return InvalidInput("asks for a device, and there is none");
    need.key = place.devices.front();
  }
  RETURN_IF_ERROR(CheckNeed(need, place));
  return need;
}

absl::StatusOr<JobStage> ReadStage(const Json& json, const JobPlace& place) {
  if (!json.is_object()) return InvalidInput("is not an object");
  JobStage stage;
  SettingsReader reader(json, "");
  if (const Json seconds = reader.ReadJson("seconds"); !seconds.is_null()) {
    const std::optional<SecondsPrediction> read = PredictionOfJson(seconds, kMostSeconds);
    if (!read.has_value())
      return InvalidInput("seconds: is neither a time nor a list of three times [low, median, high]");
    stage.seconds = *read;
  }
  reader.Read("name", stage.name, /*needed=*/true);
  reader.Read("memory_bytes", stage.memory_bytes, 0, INT64_MAX);
  const std::vector<Json> needs = reader.ReadObjects("needs");
  RETURN_IF_ERROR(reader.Finish());
  if (Printable(stage.name) != stage.name) return InvalidInput("name: is too long or not printable");
  if (needs.size() > kMostNeeds) return InvalidInput("needs: are more than ", kMostNeeds);
  for (const Json& one : needs) {
    absl::StatusOr<ResourceNeed> need = ReadNeed(one, place);
    if (!need.ok()) return Annotate(need.status(), "needs");
    if (std::ranges::count(stage.needs, need->key, &ResourceNeed::key) > 0)
      return InvalidInput("needs: has \"", need->key, "\" twice");
    stage.needs.push_back(*std::move(need));
  }
  return stage;
}

// Reads "stage", "done" or "failed", whichever is there.
absl::Status ReadAnswer(SettingsReader& reader, const JobPlace& place, ProgramAnswer& answer) {
  const Json stage = reader.ReadJson("stage"), done = reader.ReadJson("done"),
             why = reader.ReadJson("failed");
  if (!stage.is_null()) {
    absl::StatusOr<JobStage> read = ReadStage(stage, place);
    if (!read.ok()) return Annotate(read.status(), "stage");
    answer.kind = ProgramAnswer::Kind::kStage;
    answer.stage = *std::move(read);
  } else if (!done.is_null()) {
    if (!done.is_object()) return InvalidInput("done: is not an object");
    answer.kind = ProgramAnswer::Kind::kDone;
    answer.result = done.dump(-1, ' ', false, Json::error_handler_t::replace);
  } else if (!why.is_null()) {
    if (!why.is_string()) return InvalidInput("failed: is not a text");
    answer.kind = ProgramAnswer::Kind::kFailed;
    answer.why = Shortened(why.get<std::string>());
  }
  return absl::OkStatus();
}

}  // namespace

std::string OpeningLine(const JobSpec& spec, const JobPlace& place, const std::vector<std::string>& files) {
  const auto settings = spec.settings.is_object() ? spec.settings.find("settings") : spec.settings.end();
  const bool has_settings = settings != spec.settings.end() && !settings->is_null();
  // The program does not run in the folder that a relative path starts from.
  const auto absolute = [](const std::string& path) { return std::filesystem::absolute(path).string(); };
  Json absolute_files = Json::array();
  for (const std::string& file : files) absolute_files.push_back(absolute(file));
  return Line({{"attune", kProgramProtocolVersion},
               {"job", spec.id},
               {"folder", absolute(place.folder)},
               {"position", place.position},
               {"processors", place.processors},
               {"devices", place.devices},
               {"files", absolute_files},
               {"settings", has_settings ? *settings : Json::object()}});
}

std::string RunLine(const JobGrant& grant) { return Line({{"run", {{"processors", grant.processors}}}}); }

std::string CancelLine() { return Line({{"cancel", Json::object()}}); }

absl::StatusOr<ProgramAnswer> ParseProgramAnswer(std::string_view line, const JobPlace& place) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonObject<Json>(line));
  const auto has = [&](const char* key) { return json.contains(key); };
  const bool is_answer = has("stage") || has("done") || has("failed");
  if (has("stage") + has("done") + has("failed") > 1 || (!is_answer && !has("progress")))
    return InvalidInput("not exactly one of stage, done, failed and progress");
  ProgramAnswer answer;
  SettingsReader reader(json, "");
  RETURN_IF_ERROR(ReadAnswer(reader, place, answer));
  reader.Read("progress", answer.progress);
  if (answer.kind == ProgramAnswer::Kind::kStage)
    reader.Read("remaining", answer.remaining_seconds, 0, kMostSeconds);
  RETURN_IF_ERROR(reader.Finish());
  answer.progress = Shortened(answer.progress);
  return answer;
}

}  // namespace attune
