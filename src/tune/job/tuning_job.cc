#include "tune/job/tuning_job.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "tune/job/budget.h"
#include "tune/job/summary_json.h"
#include "tune/search/search.h"

namespace attune {
namespace {

// The stage that usually follows.
StageKind Successor(StageKind kind) {
  switch (kind) {
    case StageKind::kLearn:
      return StageKind::kSelect;
    case StageKind::kLayoutTime:
      return StageKind::kNetworkBuild;
    case StageKind::kFinish:
      return StageKind::kFinish;
    default:
      return static_cast<StageKind>(static_cast<int>(kind) + 1);
  }
}

}  // namespace

TuningJob::TuningJob(const TuningOptions& options, TuningRun run, const TuningTools& tools,
                     const Target& target)
    : context_(options, std::move(run), target, tools), search_(context_), final_(context_) {
  next_ = FindNext();
}

absl::StatusOr<std::unique_ptr<TuningJob>> TuningJob::Create(const Target& target,
                                                             const TuningOptions& options, TuningRun run,
                                                             const TuningTools& tools) {
  if (FindSearchStrategy(options.search) == nullptr)
    return InvalidInput("there is no search strategy \"", options.search, "\"");
  return std::unique_ptr<TuningJob>(new TuningJob(options, std::move(run), tools, target));
}

std::optional<TuningJob::Upcoming> TuningJob::FindNext() const {
  if (final_.is_over()) return std::nullopt;
  // A job that is stopped before it begins has no tasks, and only has to finish its run.
  const bool searches = search_.next().has_value() && !context_.is_stopped();
  const StageKind kind = searches ? *search_.next() : final_.next();
  return Upcoming{kind, searches ? search_.ItemsOf(kind) : final_.ItemsOf(kind)};
}

std::optional<JobStage> TuningJob::Next() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (running_ == StageKind::kFinish || (!running_.has_value() && !next_.has_value())) return std::nullopt;
  Upcoming upcoming = running_.has_value() ? Upcoming{Successor(*running_), 1} : *next_;
  const bool ends = is_stopped() && !running_.has_value();
  if (ends) upcoming = {StageKind::kFinish, 1};
  const TuningOptions& options = context_.options;
  constexpr int64_t kStageBytes = int64_t{1} << 30, kBuilderBytes = int64_t{1} << 29;
  const bool builds = upcoming.kind == StageKind::kBuild || upcoming.kind == StageKind::kConfirmBuild;
  JobStage stage{.name = std::string(Name(upcoming.kind)), .needs = {}, .seconds = {}};
  if (NeedsDevice(upcoming.kind)) {
    stage.needs.push_back(
        {.key = DeviceKey(context_.run.device), .amount = options.threads, .exclusive = true});
  } else {
    stage.needs.push_back({.key = kProcessorsKey, .amount = options.builders});
  }
  stage.memory_bytes = kStageBytes + (builds ? options.builders * kBuilderBytes : 0);
  stage.seconds = context_.times.Predict(upcoming.kind, upcoming.items);
  return stage;
}

double TuningJob::SpentSeconds() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return context_.SpentSeconds();
}

absl::Status TuningJob::Run(const JobGrant& grant) {
  std::optional<Upcoming> upcoming;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    upcoming = FindNext();
    if (!upcoming.has_value()) return InternalError("the job is done");
    running_ = upcoming->kind;
    context_.runs_stage = true;
    context_.stage_begin = context_.tools.clock->Now();
  }
  const absl::Status status = RunStage(upcoming->kind, grant);
  const std::lock_guard<std::mutex> lock(mutex_);
  const double seconds = context_.tools.clock->Now() - context_.stage_begin;
  context_.runs_stage = false;
  context_.times.Add(upcoming->kind, seconds, upcoming->items);
  running_.reset();
  next_ = FindNext();
  RETURN_IF_ERROR(status);
  if (!next_.has_value() && !leaves_run_open_) RETURN_IF_ERROR(FinishRun());
  nlohmann::json ended = {{"stage", Name(upcoming->kind)}, {"state", "ends"}, {"stage_seconds", seconds}};
  ended["trials"] = context_.trials;
  ended["network_seconds"] = context_.NetworkSeconds();
  return context_.log.Log("stage", std::move(ended));
}

absl::Status TuningJob::FinishRun() {
  context_.run.end_ms = context_.tools.clock->WallMillis();
  context_.run.stage_seconds = nlohmann::json(context_.times.BySumOfKind()).dump();
  return context_.tools.records->FinishRun(context_.run);
}

absl::Status TuningJob::RunStage(StageKind kind, const JobGrant& grant) {
  RETURN_IF_ERROR(context_.log.Log("stage", {{"stage", Name(kind)}, {"state", "begins"}}));
  return search_.next() == kind && !context_.is_stopped() ? search_.Run(grant) : final_.Run(grant);
}

// Zero if no limit tells.
double TuningJob::RemainingSeconds() const {
  if (!next_.has_value()) return 0;
  const TuningOptions& options = context_.options;
  const double spent = context_.SpentSeconds();
  double left = options.seconds > 0 ? options.seconds - spent : 0;
  if (options.trials > 0 && context_.trials > 0) {
    const double by_trials =
        spent / static_cast<double>(context_.trials) * static_cast<double>(options.trials - context_.trials) +
        FinalSeconds(context_);
    left = left > 0 ? std::min(left, by_trials) : by_trials;
  }
  return std::max(left, 0.0);
}

std::string TuningJob::Progress() const {
  double before = 0;
  for (const auto& task : context_.tasks) before += task->Summary().uses * task->Summary().default_seconds;
  const double now = context_.NetworkSeconds();
  if (before <= 0 || now <= 0) return absl::StrCat(context_.trials, " trials");
  return absl::StrFormat("%d trials, %.3f → %.3f ms", context_.trials, 1e3 * before, 1e3 * now);
}

std::string TuningJob::Result() const { return ToJson(Summary()).dump(); }

// No kernel is faster than its bound: the rates that kernels attain are part of the peaks.
void TuningJob::AddBounds(TuningSummary& summary) const {
  const CacheSizes caches = CachesOf(context_.target);
  summary.peaks = context_.peaks;
  for (size_t i = 0; i < summary.tasks.size(); ++i) {
    const double best = summary.tasks[i].best_seconds;
    if (best > 0 && std::isfinite(best))
      summary.peaks = AttainedPeaks(summary.peaks, context_.tasks[i]->work(), best, caches, summary.threads);
  }
  for (size_t i = 0; i < summary.tasks.size(); ++i)
    summary.tasks[i].bound_seconds =
        BoundOf(context_.tasks[i]->work(), summary.peaks, caches, summary.threads).seconds;
  summary.peak_gflops = summary.peaks.gflops_per_core * summary.threads;
}

TuningSummary TuningJob::Summary() const {
  TuningSummary summary;
  summary.model = context_.run.model;
  summary.device = context_.run.device;
  summary.run = context_.run.id;
  summary.search = context_.options.search;
  summary.threads = context_.options.threads;
  summary.untuned_seconds = context_.run.untuned_seconds;
  summary.tuned_seconds = context_.run.tuned_seconds;
  summary.elapsed_seconds = context_.SpentSeconds();
  summary.seconds_left = RemainingSeconds();
  summary.trials = context_.trials;
  std::vector<TaskProgress> progress;
  for (const auto& task : context_.tasks) {
    summary.tasks.push_back(task->Summary());
    progress.push_back(task->progress());
  }
  AddBounds(summary);
  const std::vector<double> gains = ExpectedGains(progress);
  for (size_t i = 0; i < summary.tasks.size(); ++i) summary.tasks[i].expected_gain = gains[i];
  summary.curve = context_.curve;
  summary.ranks = context_.ranks;
  summary.stage_seconds = context_.times.BySumOfKind();
  return summary;
}

}  // namespace attune
