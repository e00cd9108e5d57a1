#include "service/agreement/observation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json_at.h"
#include "base/json_numbers.h"
#include "base/json_object.h"
#include "base/status.h"
#include "kinds/option_settings.h"
#include "tune/job/recording.h"
#include "work/job/settings.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr double kMillis = 1e3;
// A network has a few hundred; what a liar says beyond that would only take time.
constexpr size_t kMostTasks = 2000;

int UsesOf(const Json& value) { return static_cast<int>(IntegerOf(value, 0, INT32_MAX)); }
int ThreadsOf(const Json& value) { return static_cast<int>(IntegerOf(value, 1, INT32_MAX)); }
int64_t CountOf(const Json& value) { return IntegerOf(value, 0, kMaxJsonInteger); }

// [value, low, high], high null if there is none.
PromiseRange RangeOf(const Json& judged) {
  const Json& high = judged.at(2);
  return {NumberOf(judged.at(1)), NumberOf(judged.at(0)),
          high.is_null() ? std::numeric_limits<double>::infinity() : NumberOf(high)};
}
Json JsonOf(const PromiseRange& range) {
  Json json = {range.median, range.low, nullptr};
  if (std::isfinite(range.high)) json[2] = range.high;
  return json;
}

// Seconds; infinite ones, of tasks without a time, are null in JSON.
double SecondsOf(const Json& milliseconds) {
  return milliseconds.is_number() ? milliseconds.get<double>() / kMillis : 0;
}

// Results of older versions have no other time by the roofline than the bound.
const Json& RooflineOf(const Json& task) {
  return task.contains("roofline_ms") ? task.at("roofline_ms") : task.at("bound_ms");
}

std::vector<TaskTime> TasksOf(const Json& result) {
  std::vector<TaskTime> tasks;
  for (const Json& task : result.at("tasks")) {
    if (tasks.size() == kMostTasks) break;
    TaskTime time = {.task = task.at("task"),
                     .kind = KindOfTask(task.at("description").get<std::string>()),
                     .kernel = task.at("kernel"),
                     .uses = UsesOf(task.at("uses")),
                     .flops = NumberOf(task.at("flops"), 0),
                     .bound = std::max(kLeastTaskSeconds, SecondsOf(RooflineOf(task))),
                     .untuned = SecondsOf(task.at("untuned_ms")),
                     .tuned = SecondsOf(task.at("tuned_ms"))};
    if (time.tuned > 0) tasks.push_back(std::move(time));
  }
  return tasks;
}

void ReadResult(const Json& result, Observation& to) {
  const Json& judged = result.at("judged");
  to.network = judged.at("network");
  to.interface = judged.at("interface");
  to.device = judged.at("device");
  to.threads = ThreadsOf(judged.at("threads"));
  to.compiler = judged.at("compiler");
  to.kernels = judged.at("kernels");
  to.artifact_bytes = NumberOf(judged.at("artifact_bytes"), 0);
  to.weight_bytes = NumberOf(judged.at("weight_bytes"), 0);
  to.runs = CountOf(judged.at("runs"));
  to.mean_ms = RangeOf(judged.at("mean_ms"));
  to.p99_ms = RangeOf(judged.at("p99_ms"));
  to.work_seconds = NumberOf(result.at("seconds"), 0);
  to.tasks = TasksOf(result);
}

// Takes the artifact if the network that was judged is the model's, as the server knows it.
absl::Status TakeArtifact(const JobRecord& job, const Json& kept, Observation& to) {
  const std::string network = TextAt(kept, "/network"), interface = TextAt(kept, "/interface");
  if (network.empty()) return absl::OkStatus();
  if (network != to.network || interface != to.interface)
    return InvalidInput(job.spec.id, ": has judged a network other than its model's");
  const std::string artifact = TextAt(job.spec.settings, "/output");
  const auto file = std::ranges::find(job.files, artifact, &JobFile::name);
  if (!artifact.empty() && file != job.files.end()) to.artifact = *file;
  return absl::OkStatus();
}

// The part that was submitted with the agreement.
absl::Status ReadSubmission(const JobRecord& job, Observation& to) {
  to.plan = PlanOfSettings(job.spec.settings, to.tasks.size());
  if (job.ended_ms > job.submitted_ms)
    to.finish_seconds = static_cast<double>(job.ended_ms - job.submitted_ms) / kMillis;
  if (job.spec.agreement.empty()) return absl::OkStatus();
  const Json kept = Json::parse(job.spec.agreement);
  if (kept.contains("queue_seconds")) to.queue_seconds = NumberOf(kept["queue_seconds"], 0);
  return TakeArtifact(job, kept, to);
}

}  // namespace

std::string KindOfTask(std::string_view description) {
  return std::string(description.substr(0, description.find_first_of("+ ")));
}

TuningPlan PlanOfSettings(const Json& settings, size_t tasks) {
  TuningPlan plan = {.tasks = static_cast<double>(tasks)};
  SettingsReader reader(settings, "");
  reader.Read("trials", plan.trials, 0, 1e9);
  double for_each = 0;
  reader.Read("trials_per_task", for_each, 0, 1e9);
  if (for_each > 0) {
    const double all = for_each * plan.tasks;
    plan.trials = plan.trials > 0 ? std::min(plan.trials, all) : all;
  }
  reader.ReadSeconds("time", plan.seconds);
  return plan;
}

absl::StatusOr<Observation> ObservationOf(const JobRecord& job) {
  if (job.state != JobState::kDone || job.spec.kind != "tuning")
    return absl::NotFoundError("the job is not a finished tuning job");
  if (ChangeArtifact(job.spec.settings))
    return absl::NotFoundError("its artifact is not as that of other jobs");
  ASSIGN_OR_RETURN(const Json result, ParseJsonObject<Json>(job.result));
  if (!result.contains("judged")) return absl::NotFoundError("its network was not judged");
  if (result.contains("is_known") && result["is_known"] == true)
    return absl::NotFoundError("the measurements of another job answered it");
  if (FlagAt(result, "/judged/is_disturbed"))
    return absl::NotFoundError("other programs disturbed the device while its network was judged");
  Observation observation = {
      .job = job.spec.id, .tenant = job.spec.owner, .ended_ms = job.ended_ms, .files_owner = job.spec.base};
  try {
    ReadResult(result, observation);
    RETURN_IF_ERROR(ReadSubmission(job, observation));
    const Json& judged = result.at("judged");
    ASSIGN_OR_RETURN(observation.peaks,
                     PeaksOfJson(judged.contains("peaks") ? judged["peaks"] : Json::object()));
  } catch (const Json::exception& error) {
    return InvalidInput(job.spec.id, ": its result is not that of a tuning job: ", error.what());
  }
  return observation;
}

Json ToJson(const Observation& o) {
  Json tasks = Json::array();
  for (const TaskTime& task : o.tasks)
    tasks.push_back(
        {task.task, task.kind, task.kernel, task.uses, task.flops, task.bound, task.untuned, task.tuned});
  return {{"job", o.job},
          {"tenant", o.tenant},
          {"ended_ms", o.ended_ms},
          {"network", o.network},
          {"interface", o.interface},
          {"device", o.device},
          {"threads", o.threads},
          {"compiler", o.compiler},
          {"kernels", o.kernels},
          {"peaks", attune::ToJson(o.peaks)},
          {"runs", o.runs},
          {"mean_ms", JsonOf(o.mean_ms)},
          {"p99_ms", JsonOf(o.p99_ms)},
          {"tasks", std::move(tasks)},
          {"files_owner", o.files_owner},
          {"artifact", {o.artifact.name, o.artifact.digest, o.artifact.bytes}},
          {"artifact_bytes", o.artifact_bytes},
          {"weight_bytes", o.weight_bytes},
          {"plan", {o.plan.trials, o.plan.seconds, o.plan.tasks}},
          {"work_seconds", o.work_seconds},
          {"finish_seconds", o.finish_seconds},
          {"queue_seconds", o.queue_seconds}};
}

absl::StatusOr<Observation> ObservationOfJson(const Json& json) {
  try {
    Observation o = {.job = json.at("job"),
                     .tenant = json.at("tenant"),
                     .ended_ms = CountOf(json.at("ended_ms")),
                     .network = json.at("network"),
                     .interface = json.at("interface"),
                     .device = json.at("device"),
                     .threads = ThreadsOf(json.at("threads")),
                     .compiler = json.at("compiler"),
                     .kernels = json.at("kernels"),
                     .runs = CountOf(json.at("runs")),
                     .mean_ms = RangeOf(json.at("mean_ms")),
                     .p99_ms = RangeOf(json.at("p99_ms")),
                     .files_owner = json.at("files_owner"),
                     .artifact = {json.at("artifact").at(0), json.at("artifact").at(1),
                                  CountOf(json.at("artifact").at(2))},
                     .artifact_bytes = NumberOf(json.at("artifact_bytes"), 0),
                     .weight_bytes = NumberOf(json.at("weight_bytes"), 0),
                     .plan = {NumberOf(json.at("plan").at(0)), NumberOf(json.at("plan").at(1)),
                              NumberOf(json.at("plan").at(2))},
                     .work_seconds = NumberOf(json.at("work_seconds"), 0),
                     .finish_seconds = NumberOf(json.at("finish_seconds"), 0),
                     .queue_seconds = NumberOf(json.at("queue_seconds"), 0)};
    for (const Json& task : json.at("tasks"))
      o.tasks.push_back({task.at(0), task.at(1), task.at(2), UsesOf(task.at(3)), NumberOf(task.at(4)),
                         NumberOf(task.at(5)), NumberOf(task.at(6)), NumberOf(task.at(7))});
    ASSIGN_OR_RETURN(o.peaks, PeaksOfJson(json.at("peaks")));
    return o;
  } catch (const Json::exception& error) {
    return InvalidInput(error.what());
  }
}

}  // namespace attune
