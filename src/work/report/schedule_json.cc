#include "work/report/schedule_json.h"

#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/printable.h"
#include "base/processor_set.h"
#include "base/status.h"
#include "work/job/settings.h"
#include "work/report/schedule_summary.h"

namespace attune {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr double kMostSeconds = 1e9;
// Sums of amounts do not overflow.
constexpr int64_t kMostAmount = 1'000'000'000;
constexpr size_t kMostNeeds = 64, kMostDevices = 1 << 16;
constexpr int kMostDepth = 64;

constexpr std::array kOutcomes = {StageOutcome::kDone, StageOutcome::kFailed, StageOutcome::kLost};
constexpr std::array kStates = {JobState::kUnfinished, JobState::kDone, JobState::kFailed};

ordered_json ToJson(const HostResources& host) {
  ordered_json devices = ordered_json::array();
  for (const DeviceResource& device : host.devices)
    devices.push_back({{"key", device.key}, {"processors", device.processors}, {"quiet", device.quiet}});
  ordered_json json = {{"processors", host.processors},
                       {"caches", host.caches},
                       {"isolates_caches", host.isolates_caches},
                       {"keeps_device_processors", host.keeps_device_processors},
                       {"memory_bytes", host.memory_bytes},
                       {"devices", std::move(devices)},
                       {"slots", host.slots}};
  if (host.memory_bytes == INT64_MAX) json["memory_bytes"] = nullptr;  // unlimited
  return json;
}

ordered_json ToJson(const JobRecord& job, const JobSummary& summary) {
  ordered_json json = {{"id", job.spec.id},
                       {"kind", job.spec.kind},
                       {"owner", job.spec.owner},
                       {"priority", job.spec.priority},
                       {"deadline_seconds", nullptr},
                       {"missed_deadline", summary.missed_deadline},
                       {"state", Name(job.state)},
                       {"progress", job.progress},
                       {"result", job.result},
                       {"error", job.error},
                       {"position", job.position},
                       {"stages", summary.done},
                       {"stages_failed", summary.failed},
                       {"stages_lost", summary.lost},
                       {"seconds", summary.seconds},
                       {"waited_seconds", summary.waited},
                       {"ended_at_seconds", summary.end},
                       {"base", job.spec.base},
                       {"settings", job.spec.settings}};
  if (job.spec.deadline_seconds.has_value()) json["deadline_seconds"] = *job.spec.deadline_seconds;
  return json;
}

ordered_json ToJson(const StageRecord& stage) {
  ordered_json needs = ordered_json::array();
  for (const ResourceNeed& need : stage.stage.needs)
    needs.push_back({{"key", need.key}, {"amount", need.amount}, {"exclusive", need.exclusive}});
  const auto list = [](const SecondsPrediction& seconds) {
    return ordered_json{seconds.low, seconds.median, seconds.high};
  };
  return {{"job", stage.job},
          {"name", stage.stage.name},
          {"needs", std::move(needs)},
          {"memory_bytes", stage.stage.memory_bytes},
          {"predicted_seconds", list(stage.stage.seconds)},
          {"own_prediction", list(stage.own)},
          {"asked", stage.asked},
          {"start", stage.start},
          {"end", stage.end},
          {"processors", stage.processors},
          {"held", stage.held},
          {"outcome", Name(stage.outcome)}};
}

// Reads the values of one object. The first error stays in the status that it shares with other readers;
// after it, values are zero or empty.
class ObjectReader {
 public:
  // `where`: the object's path, or empty.
  ObjectReader(const json& object, std::string where, absl::Status& status)
      : object_(object), where_(std::move(where)), status_(status) {
    if (!object.is_object() && status_.ok())
      status_ = InvalidInput(where_.empty() ? "the schedule" : where_, ": is not an object");
  }

  std::string Text(const char* key) const {
    const json* value = Find(key);
    if (value != nullptr && !value->is_string()) Fail(key, "is not a text");
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
  }
  bool Bool(const char* key) const {
    const json* value = Find(key);
    if (value != nullptr && !value->is_boolean()) Fail(key, "is neither true nor false");
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }
  int64_t Integer(const char* key, int64_t least, int64_t most) const {
    const json* value = Find(key);
    return value == nullptr ? 0 : Integer(*value, key, least, most);
  }
  int Int(const char* key, int least, int most) const { return static_cast<int>(Integer(key, least, most)); }
  double Seconds(const char* key, double least = 0) const {
    const json* value = Find(key);
    return value == nullptr ? 0 : Seconds(*value, key, least);
  }
  // Empty if it is null or missing.
  const json* Optional(const char* key) const {
    if (!status_.ok()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  std::vector<int> Ints(const char* key, int least, int most) const {
    std::vector<int> values;
    for (const json& value : List(key)) values.push_back(static_cast<int>(Integer(value, key, least, most)));
    return values;
  }
  SecondsPrediction Prediction(const char* key) const {
    const json& list = List(key);
    if (list.size() != 3) {
      Fail(key, "are not three numbers");
      return {};
    }
    const SecondsPrediction read = {Seconds(list[0], key, 0), Seconds(list[1], key, 0),
                                    Seconds(list[2], key, 0)};
    if (read.low > read.median || read.median > read.high) Fail(key, "do not ascend");
    return read;
  }
  template <typename Value, size_t kCount>
  Value OneOf(const char* key, const std::array<Value, kCount>& all) const {
    const std::string name = Text(key);
    for (const Value value : all) {
      if (Name(value) == name) return value;
    }
    Fail(key, absl::StrCat("\"", Printable(name), "\" is unknown"));
    return all[0];
  }
  // Calls read(reader) for each object of the list, until one is wrong.
  template <typename Read>
  void ForEach(const char* key, const Read& read) const {
    const json& list = List(key);
    for (size_t i = 0; i < list.size() && status_.ok(); ++i)
      read(ObjectReader(list[i], absl::StrCat(PathOf(key), "[", i, "]"), status_));
  }
  // An empty list if it is none.
  const json& List(const char* key) const {
    static const json kNone = json::array();
    const json* value = Find(key);
    if (value != nullptr && !value->is_array()) Fail(key, "is not a list");
    return value != nullptr && value->is_array() ? *value : kNone;
  }

  void Fail(const char* key, std::string_view what) const {
    if (status_.ok()) status_ = InvalidInput(PathOf(key), ": ", what);
  }
  int64_t Integer(const json& value, const char* key, int64_t least, int64_t most) const {
    if (const std::optional<int64_t> number = WholeNumber(value, least, most)) return *number;
    Fail(key, absl::StrCat("is not a whole number from ", least, " to ", most));
    return least;
  }

 private:
  std::string PathOf(const char* key) const { return where_.empty() ? key : absl::StrCat(where_, ".", key); }

  const json* Find(const char* key) const {
    if (!status_.ok()) return nullptr;
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    Fail(key, "is missing");
    return nullptr;
  }
  double Seconds(const json& value, const char* key, double least) const {
    if (value.is_number() && value.get<double>() >= least && value.get<double>() <= kMostSeconds)
      return value.get<double>();
    Fail(key, absl::StrCat("is not a number of seconds from ", least, " to ", kMostSeconds));
    return least;
  }

  const json& object_;
  const std::string where_;
  absl::Status& status_;
};

HostResources HostOf(const ObjectReader& reader) {
  HostResources host;
  host.processors = reader.Int("processors", 0, kMaxProcessors);
  host.caches = reader.Ints("caches", 0, kMaxProcessors);
  if (!host.caches.empty() && std::ssize(host.caches) != host.processors)
    reader.Fail("caches", "are not as many as the processors");
  host.isolates_caches = reader.Bool("isolates_caches");
  host.keeps_device_processors = reader.Bool("keeps_device_processors");
  if (reader.Optional("memory_bytes") != nullptr)
    host.memory_bytes = reader.Integer("memory_bytes", 0, INT64_MAX);
  if (reader.List("devices").size() > kMostDevices) reader.Fail("devices", "are too many");
  reader.ForEach("devices", [&](const ObjectReader& device) {
    const int last = host.processors - 1;
    host.devices.push_back(
        {device.Text("key"), device.Ints("processors", 0, last), device.Ints("quiet", 0, last)});
  });
  const json* slots = reader.Optional("slots");
  if (slots == nullptr) return host;
  if (!slots->is_object()) {
    reader.Fail("slots", "are not an object");
    return host;
  }
  for (const auto& [key, amount] : slots->items())
    host.slots[key] = reader.Integer(amount, "slots", 0, kMostAmount);
  return host;
}

JobRecord JobOf(const ObjectReader& reader) {
  JobRecord job;
  job.spec.id = reader.Text("id");
  if (job.spec.id.empty()) reader.Fail("id", "is empty");
  job.spec.kind = reader.Text("kind");
  job.spec.owner = reader.Text("owner");
  job.spec.priority = reader.Int("priority", INT32_MIN, INT32_MAX);
  if (reader.Optional("deadline_seconds") != nullptr)
    job.spec.deadline_seconds = reader.Seconds("deadline_seconds");
  job.state = reader.OneOf("state", kStates);
  job.progress = reader.Text("progress");
  job.result = reader.Text("result");
  job.error = reader.Text("error");
  job.position = reader.Integer("position", 0, INT64_MAX);
  job.spec.base = reader.Text("base");
  if (const json* settings = reader.Optional("settings")) job.spec.settings = *settings;
  return job;
}

StageRecord StageOf(const ObjectReader& reader, int processors) {
  StageRecord stage;
  stage.job = reader.Text("job");
  stage.stage.name = reader.Text("name");
  if (reader.List("needs").size() > kMostNeeds) reader.Fail("needs", "are too many");
  reader.ForEach("needs", [&](const ObjectReader& need) {
    stage.stage.needs.push_back(
        {need.Text("key"), need.Integer("amount", 0, kMostAmount), need.Bool("exclusive")});
  });
  stage.stage.memory_bytes = reader.Integer("memory_bytes", 0, INT64_MAX);
  stage.stage.seconds = reader.Prediction("predicted_seconds");
  stage.own = reader.Prediction("own_prediction");
  stage.asked = reader.Seconds("asked");
  stage.start = reader.Seconds("start", stage.asked);
  stage.end = reader.Seconds("end", stage.start);
  stage.processors = reader.Ints("processors", 0, processors - 1);
  stage.held = reader.Ints("held", 0, processors - 1);
  stage.outcome = reader.OneOf("outcome", kOutcomes);
  return stage;
}

}  // namespace

ordered_json ToJson(const ScheduleRecord& record) {
  const ScheduleSummary summary = Summarize(record);
  ordered_json jobs = ordered_json::array(), resources = ordered_json::array(),
               stages = ordered_json::array();
  for (size_t i = 0; i < record.jobs.size(); ++i) jobs.push_back(ToJson(record.jobs[i], summary.jobs[i]));
  for (const ResourceUse& use : summary.resources)
    resources.push_back(
        {{"name", use.name}, {"busy_seconds", use.busy_seconds}, {"idle_share", use.idle_share}});
  for (const StageRecord& stage : record.stages) stages.push_back(ToJson(stage));
  const PredictionCounts& predictions = summary.predictions;
  return {{"schedule", record.id},
          {"strategy", record.strategy},
          {"makespan_seconds", summary.makespan},
          {"idle_share_of_processors", summary.IdleShare(/*of_devices=*/false)},
          {"idle_share_of_devices", summary.IdleShare(/*of_devices=*/true)},
          {"waiting_seconds", {{"p50", summary.waiting_p50}, {"p99", summary.waiting_p99}}},
          {"predictions",
           {{"stages", predictions.predicted},
            {"within", predictions.within},
            {"share_within", predictions.Share()}}},
          {"missed_deadlines", summary.missed_deadlines},
          {"host", ToJson(record.host)},
          {"resources", std::move(resources)},
          {"jobs", std::move(jobs)},
          {"stages", std::move(stages)}};
}

absl::StatusOr<ScheduleRecord> ScheduleOfJson(const json& root) {
  absl::Status status;
  const ObjectReader reader(root, "", status);
  ScheduleRecord record;
  record.id = reader.Text("schedule");
  record.strategy = reader.Text("strategy");
  if (const json* host = reader.Optional("host")) {
    record.host = HostOf(ObjectReader(*host, "host", status));
  } else {
    reader.Fail("host", "is missing");
  }
  std::unordered_set<std::string> ids;
  reader.ForEach("jobs", [&](const ObjectReader& job) {
    record.jobs.push_back(JobOf(job));
    if (!ids.insert(record.jobs.back().spec.id).second) job.Fail("id", "is that of another job too");
  });
  reader.ForEach("stages", [&](const ObjectReader& stage) {
    record.stages.push_back(StageOf(stage, record.host.processors));
    if (!ids.contains(record.stages.back().job)) stage.Fail("job", "is none of the jobs");
  });
  RETURN_IF_ERROR(status);
  return record;
}

absl::StatusOr<json> ParseJson(std::string_view text) {
  bool is_too_deep = false;
  const auto keeps = [&](int depth, json::parse_event_t, json&) {
    is_too_deep |= depth > kMostDepth;
    return depth <= kMostDepth;
  };
  json parsed = json::parse(text, keeps, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return InvalidInput("is not JSON");
  if (is_too_deep) return InvalidInput("is nested more than ", kMostDepth, " deep");
  return parsed;
}

}  // namespace attune
