#include "tune/job/measuring.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/memory.h"
#include "base/status.h"
#include "measure/codec.h"
#include "tune/job/lower_bound.h"
#include "tune/task/reference_data.h"

namespace attune {
namespace {

constexpr size_t kBuiltAtOnce = 16;                        // candidates per builder
constexpr double kAskSeconds = 0.1;                        // between two checks whether the job is stopped
constexpr int64_t kUnknownCacheBytes = int64_t{64} << 20;  // more than in most processors

// The result for a kernel that is the baseline itself.
Measurement SameAsBaseline(const Baseline& baseline) {
  Measurement m;
  m.outcome = TrialOutcome::kOk;
  m.timing = {baseline.seconds, baseline.seconds, baseline.seconds, 1};
  m.baseline_seconds = m.normalized_seconds = baseline.seconds;
  m.ratio = m.ratio_low = m.ratio_high = 1;
  m.is_significant = true;
  return m;
}

// The result, unless no device could be so fast.
Measurement Plausible(const TaskTuning& task, Measurement measured) {
  const bool is_too_fast =
      measured.outcome == TrialOutcome::kOk && measured.timing.seconds * kFasterThanPossible < task.bound();
  if (!is_too_fast) return measured;
  return FailedMeasurement(TrialOutcome::kInvalidTiming,
                           absl::StrCat("the device reports ", measured.timing.seconds,
                                        " s, but its peak rates allow no less than ", task.bound(), " s"));
}

// The kernels to interleave candidates with, by task: the known baseline, or the one of these attempts that
// becomes the baseline once it is measured.
std::map<size_t, std::string> BaselinesOf(std::span<const Measuring::Timed> timed,
                                          std::span<const std::unique_ptr<TaskTuning>> tasks) {
  std::map<size_t, std::string> digests;
  for (const Measuring::Timed& one : timed) {
    const Attempt& attempt = *one.attempt;
    TaskTuning& task = *tasks[attempt.task];
    if (task.times().baseline().has_value()) {
      digests[attempt.task] = task.times().baseline()->kernel.digest();
    } else if (attempt.is_checked() && attempt.candidate == task.Default()) {
      digests[attempt.task] = attempt.kernel->digest();
    }
  }
  return digests;
}

}  // namespace

Measuring::Measuring(const TuningOptions& options, const Target& target, const TuningTools& tools,
                     TrialLog& log, std::function<bool()> is_stopped)
    : options_(options),
      target_(target),
      tools_(tools),
      log_(log),
      is_stopped_(std::move(is_stopped)),
      memory_of_machine_(MemoryOfMachine()) {}

int64_t Measuring::memory_limit() const {
  return std::min(MeasureOptions().memory_bytes_limit, memory_of_machine_ / 2);
}

MeasureOptions Measuring::Options() const {
  MeasureOptions options;
  options.cache = options_.cache;
  options.threads = options_.threads;
  options.seconds_limit = options_.measure_seconds;
  options.memory_bytes_limit = memory_limit();
  const int64_t last_level = std::max(target_.l2_bytes, target_.l3_bytes);
  const int64_t most = 2 * (last_level > 0 ? last_level : kUnknownCacheBytes);
  options.cold_bytes = options_.cold_bytes > 0 ? std::min(options_.cold_bytes, most) : most;
  return options;
}

MeasureOptions Measuring::Options(const TaskTuning& task) const {
  MeasureOptions options = Options();
  const std::optional<Baseline>& baseline = task.times().baseline();
  options.execution_seconds_limit =
      execution_limit_.Of(baseline ? std::optional(baseline->seconds) : std::nullopt);
  return options;
}

absl::Status Measuring::RecordData(const TuningTask& task) {
  const auto known = data_.find(task.digest);
  if (known != data_.end() && tools_.service->Has(known->second)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Blob data, MakeReferenceData(task));
  data_[task.digest] = data.digest();
  return Put(data);
}

void Measuring::Build(std::span<Attempt> attempts, std::span<const std::unique_ptr<TaskTuning>> tasks) {
  std::vector<Attempt*> unbuilt;
  for (Attempt& attempt : attempts) {
    if (attempt.built.outcome == TrialOutcome::kRetry) unbuilt.push_back(&attempt);
  }
  // In portions, so that a stopped job does not have to wait for all of them.
  const size_t portion = kBuiltAtOnce * static_cast<size_t>(options_.builders);
  for (size_t begin = 0; begin < unbuilt.size() && !is_stopped_(); begin += portion) {
    const size_t count = std::min(portion, unbuilt.size() - begin);
    std::vector<BuildRequest> requests;
    for (Attempt* attempt : std::span(unbuilt).subspan(begin, count))
      requests.push_back({&tasks[attempt->task]->task(), attempt->candidate});
    std::vector<BuildResult> results = tools_.builder->Build(requests);
    for (size_t i = 0; i < count; ++i) unbuilt[begin + i]->built = std::move(results[i]);
  }
}

absl::Status Measuring::Check(std::span<Attempt> attempts, std::span<const std::unique_ptr<TaskTuning>> tasks,
                              const JobGrant& grant) {
  std::vector<MeasureItem> items;
  std::vector<Attempt*> checked;
  for (Attempt& attempt : attempts) {
    if (!attempt.is_built() || attempt.check.outcome != TrialOutcome::kRetry) continue;
    const TuningTask& task = tasks[attempt.task]->task();
    // The data contain outputs with up to two bounds, and each process has a copy of everything.
    if (const int64_t bytes = 4 * TaskBytes(task); bytes > memory_limit()) {
      attempt.check =
          FailedMeasurement(TrialOutcome::kOutOfMemory,
                            absl::StrCat("the task's inputs and outputs take ", bytes >> 20,
                                         " MiB to measure, the limit is ", memory_limit() >> 20, " MiB"));
      continue;
    }
    if (const absl::Status status = RecordData(task); !status.ok()) {
      attempt.check = FailedMeasurement(TrialOutcome::kRetry, std::string(status.message()));
      continue;
    }
    ASSIGN_OR_RETURN(attempt.kernel, Blob::Of(EncodeKernel(attempt.built.kernel)));
    RETURN_IF_ERROR(Put(*attempt.kernel));
    items.push_back({.kind = MeasureItem::Kind::kCheckKernel,
                     .options = Options(*tasks[attempt.task]),
                     .subject = attempt.kernel->digest(),
                     .data = data_.at(task.digest),
                     .processors = grant.processors});
    checked.push_back(&attempt);
  }
  const std::unique_ptr<MeasureBatch> batch = tools_.service->Submit(std::move(items));
  while (!batch->is_over()) {
    if (auto result = AwaitNext(*batch)) checked[result->first]->check = std::move(result->second);
  }
  return absl::OkStatus();
}

std::optional<std::pair<size_t, Measurement>> Measuring::AwaitNext(MeasureBatch& batch) const {
  if (is_stopped_()) batch.Cancel();
  return batch.Next(After(kAskSeconds));
}

Measurement Measuring::Believed(const TuningTask& task, const Candidate& candidate,
                                Measurement measured) const {
  if (tools_.recording == nullptr) return measured;
  const std::string name = ToString(candidate.strategy, candidate.config);
  return tools_.recording->NextMeasurement(task.digest, name).value_or(std::move(measured));
}

absl::Status Measuring::LogMeasurement(const TuningTask& task, const Candidate& candidate,
                                       const Measurement& m, double measured_ratio) const {
  nlohmann::json fields = ToJson(m);
  // A replay tells what it has measured itself, too.
  if (tools_.recording != nullptr) fields["measured_ratio"] = measured_ratio;
  fields["task"] = task.digest;
  fields["candidate"] = ToString(candidate.strategy, candidate.config);
  return log_.Log("measurement", std::move(fields));
}

absl::Status Measuring::Time(std::span<const Timed> timed, std::span<const std::unique_ptr<TaskTuning>> tasks,
                             const JobGrant& grant,
                             const std::function<absl::StatusOr<bool>(size_t, Measurement)>& take) {
  const std::map<size_t, std::string> baselines = BaselinesOf(timed, tasks);
  std::vector<MeasureItem> items;
  std::vector<std::optional<size_t>> item_of(timed.size());
  std::vector<Measurement> results(timed.size());
  for (size_t i = 0; i < timed.size(); ++i) {
    const Attempt& attempt = *timed[i].attempt;
    const std::optional<Baseline>& baseline = tasks[attempt.task]->times().baseline();
    const auto digest = baselines.find(attempt.task);
    if (!attempt.is_checked()) {
      results[i] =
          attempt.is_built() ? attempt.check : FailedMeasurement(attempt.built.outcome, attempt.built.reason);
    } else if (baseline.has_value() && baseline->kernel.digest() == attempt.kernel->digest()) {
      results[i] = SameAsBaseline(*baseline);
    } else {
      if (baseline.has_value()) RETURN_IF_ERROR(Put(baseline->kernel));
      item_of[i] = items.size();
      items.push_back({.kind = MeasureItem::Kind::kTimeKernel,
                       .options = timed[i].options,
                       .subject = attempt.kernel->digest(),
                       .data = data_.at(tasks[attempt.task]->task().digest),
                       .baseline = digest == baselines.end() ? "" : digest->second,
                       .baseline_seconds = baseline.has_value() ? baseline->seconds : 0,
                       .processors = grant.processors});
    }
  }
  const std::unique_ptr<MeasureBatch> batch = tools_.service->Submit(std::move(items));
  std::map<size_t, Measurement> arrived;  // by item
  for (size_t i = 0; i < timed.size(); ++i) {
    while (item_of[i].has_value() && !arrived.contains(*item_of[i])) {
      if (auto result = AwaitNext(*batch)) arrived.insert(*std::move(result));
    }
    if (item_of[i].has_value())
      results[i] = Plausible(*tasks[timed[i].attempt->task], std::move(arrived.at(*item_of[i])));
    const Attempt& attempt = *timed[i].attempt;
    const TuningTask& task = tasks[attempt.task]->task();
    if (attempt.is_built() && results[i].outcome != TrialOutcome::kRetry) {
      const double measured_ratio = results[i].ratio;
      results[i] = Believed(task, attempt.candidate, std::move(results[i]));
      RETURN_IF_ERROR(LogMeasurement(task, attempt.candidate, results[i], measured_ratio));
    }
    ASSIGN_OR_RETURN(const bool goes_on, take(i, std::move(results[i])));
    if (!goes_on) break;
  }
  return absl::OkStatus();
}

Measurement Measuring::MeasureOne(MeasureItem item, const JobGrant& grant) {
  item.processors = grant.processors;
  item.options.threads = options_.threads;
  item.options.memory_bytes_limit = memory_limit();
  // If measuring itself failed, it is worth another attempt.
  constexpr int kAttempts = 3;
  Measurement measured;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::unique_ptr<MeasureBatch> batch = tools_.service->Submit({item});
    while (!batch->is_over()) {
      if (auto result = AwaitNext(*batch)) measured = std::move(result->second);
    }
    if (measured.outcome != TrialOutcome::kRetry || is_stopped_()) break;
  }
  return measured;
}

}  // namespace attune
