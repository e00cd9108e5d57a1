#include "sweep/result_file.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "base/file.h"
#include "base/json_object.h"
#include "base/status.h"

namespace attune {
namespace {

using Json = nlohmann::json;

// A day of inferences that take 10 µs would be too many, but attune bench itself has them in memory.
constexpr int64_t kMostResultBytes = int64_t{512} << 20;

}  // namespace

absl::StatusOr<Json> ReadResultFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostResultBytes));
  absl::StatusOr<Json> json = ParseJsonObject<Json>(text);
  if (!json.ok()) return Annotate(json.status(), path);
  return json;
}

absl::StatusOr<std::vector<double>> ReadLatencies(const std::string& path) {
  ASSIGN_OR_RETURN(const Json json, ReadResultFile(path));
  const auto is_time = [](const Json& time) { return time.is_number() && time.get<double>() >= 0; };
  const auto list = json.find("latency_ms");
  if (list == json.end() || !list->is_array() || list->empty() || !std::ranges::all_of(*list, is_time))
    return InvalidInput(path, ": has no latencies");
  return list->get<std::vector<double>>();
}

void ForEachStage(const std::string& events,
                  const std::function<void(const std::string& stage, double seconds)>& take) {
  std::ifstream file(events);
  for (std::string line; std::getline(file, line);) {
    if (line.find("\"stage_seconds\"") == std::string::npos) continue;
    const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (event.is_object() && TextIn(event, "event") == "stage")
      take(TextIn(event, "stage"), NumberIn(event, "stage_seconds"));
  }
}

bool WasTuningStopped(const std::string& path) {
  const absl::StatusOr<Json> json = ReadResultFile(path);
  return !json.ok() || json->value("stopped", Json(true)) != Json(false);
}

std::string TextIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double NumberIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace attune
