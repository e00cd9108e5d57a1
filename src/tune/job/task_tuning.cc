#include "tune/job/task_tuning.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

// Tasks that may come equally close to their rooflines. If another algorithm needs fewer operations, the
// roofline counts only these, but the other work of the algorithm keeps every kernel far above it.
std::string FamilyOf(const TaskShape& shape, const ConfigSpace& space) {
  if (shape.anchor.empty()) return "";
  std::string family = shape.anchor;
  for (const StrategySpace& strategy : space.strategies())
    absl::StrAppend(&family, ", ", strategy.strategy->name);
  return family;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TaskTuning>> TaskTuning::Create(TuningTask task, const Target& target,
                                                               const TuningOptions& options, uint64_t seed,
                                                               Slice slice) {
  ASSIGN_OR_RETURN(std::unique_ptr<TaskSearch> search,
                   TaskSearch::Create(std::move(task), target, options, seed, slice));
  ASSIGN_OR_RETURN(const Workload workload, search->task().Analyze());
  return std::unique_ptr<TaskTuning>(new TaskTuning(std::move(search), ShapeOfTask(workload)));
}

TaskTuning::TaskTuning(std::unique_ptr<TaskSearch> search, TaskShape shape)
    : search_(std::move(search)), shape_(std::move(shape)), times_(Default()) {
  progress_.weight = task().uses;
  progress_.family = FamilyOf(shape_, search_->space());
}

void TaskTuning::Transfer(std::span<const Record> records, const std::string& run,
                          const TuningOptions& options) {
  const std::vector<FittingRecord> fitting = FittingRecords(records, search_->space());
  std::vector<Trial> trials;
  for (const FittingRecord& known : fitting) {
    const bool counts = known.record->run == run || options.part.combines();
    ++(counts ? counts_.trials : counts_.transferred);
    if (!known.ok() && counts) ++counts_.failed;
    trials.push_back({known.candidate, known.ok(), known.record->timing.seconds});
  }
  resumed_ = ResumedRun::Of(fitting, run, Default(), options.batch);
  if (options.part.combines()) {
    known_ = BestOfParts(fitting, Default());
    resumed_.best.clear();  // the searches were those of its parts
  } else {
    known_ = BestByRecords(fitting);
  }
  search_->Observe(trials);
}

std::vector<Candidate> TaskTuning::First() const {
  std::vector<Candidate> first = {Default()};
  for (const Candidate& known : known_.best) {
    const bool is_first = known == first.front() && !search_->space().hides_defaults();
    if (!is_first && !resumed_.ratios.contains(known)) first.push_back(known);
  }
  return first;
}

std::optional<Candidate> TaskTuning::Guess(std::span<const Candidate> others, const CostModel* model) {
  if (!known_.best.empty()) return std::nullopt;
  if (std::optional<Candidate> best = search_->BestOf(others, model)) return best;
  if (!search_->space().hides_defaults() || search_->space().size() == 1) return std::nullopt;
  const std::vector<Candidate> proposed = Propose(1, model);
  return proposed.empty() ? std::nullopt : std::optional(proposed.front());
}

void TaskTuning::Resume() {
  is_resuming_ = !resumed_.best.empty();
  for (const double ratio : std::exchange(resumed_.best, {}))
    progress_.best.push_back(ratio * times_.baseline_seconds());
  for (const auto& [candidate, ratio] : std::exchange(resumed_.ratios, {})) {
    if (candidate != Default()) times_.Add(candidate, ratio * times_.baseline_seconds());
  }
}

std::vector<Candidate> TaskTuning::Propose(int batch, const CostModel* model) {
  std::vector<Candidate> proposals = search_->Propose(batch, model);
  if (proposals.empty()) GiveUp();
  return proposals;
}

bool TaskTuning::IsReference(const Candidate& candidate) const {
  return search_->space().hides_defaults() && !times_.baseline().has_value() && candidate == Default();
}

void TaskTuning::Add(const Candidate& candidate, const Measurement& measurement, const Blob& kernel,
                     const std::string& code_digest) {
  const double seconds = measurement.comparable_seconds();
  const bool is_reference = IsReference(candidate);
  if (candidate == Default()) {
    const bool is_first = !times_.baseline().has_value();
    times_.SetBaseline({kernel, code_digest, seconds});
    if (is_first) Resume();
  }
  if (is_reference) {
    if (search_->space().size() > 1) return;
    GiveUp();  // the only candidate counts without a trial
  } else {
    ++counts_.trials;
  }
  search_->Add({candidate, /*ok=*/true, seconds});
  ++counts_.since_gain;
  if (!measurement.abandoned && times_.Add(candidate, seconds)) counts_.since_gain = 0;
}

void TaskTuning::AddFailure(const Candidate& candidate) {
  search_->Add({candidate, /*ok=*/false, 0});
  ++counts_.trials;
  ++counts_.failed;
  ++counts_.since_gain;
}

void TaskTuning::EndBatch() {
  const size_t trials = search_->EndBatch();
  if (std::exchange(is_resuming_, false) && trials <= 1) {
    counts_.since_gain = resumed_.since_gain;
  } else {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    progress_.best.push_back(times_.best().has_value() ? times_.best_seconds() : kNever);
  }
}

const Candidate* TaskTuning::found() const {
  if (times_.is_tuned()) return &*times_.best();
  return known_.best.empty() ? nullptr : &known_.best.front();
}

TaskSummary TaskTuning::Summary() const {
  constexpr size_t kDescriptionBytes = 120;
  const std::optional<TaskTimes::Code> confirmed = times_.ConfirmedCode();
  const std::optional<Candidate>& best = times_.best();
  const std::string baseline = times_.baseline().has_value() ? times_.baseline()->code_digest : "";
  return {.description = DescribeTask(task().text, kDescriptionBytes),
          .digest = task().digest,
          .uses = task().uses,
          .flops = task().flops,
          .bytes = task().bytes,
          .default_seconds = times_.baseline_seconds(),
          .best_seconds = times_.best_seconds(),
          .least_seconds = times_.least_seconds(),
          .roofline_seconds = progress_.lower_bound,
          .bound_seconds = bound_,
          .default_config = ToString(Default().strategy, Default().config),
          .best_config = best.has_value() ? ToString(best->strategy, best->config) : "",
          .kernel = confirmed.has_value() ? confirmed->best : baseline,
          .trials = counts_.trials,
          .failed = counts_.failed,
          .transferred = counts_.transferred};
}

}  // namespace attune
