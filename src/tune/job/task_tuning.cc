#include "tune/job/task_tuning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tune/records/record_candidate.h"

namespace attune {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

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
  const SearchStrategyInfo* search = FindSearchStrategy(options.search);
  if (search == nullptr) return InvalidInput("there is no search strategy \"", options.search, "\"");
  std::unique_ptr<TaskTuning> tuning(new TaskTuning(std::move(task)));
  ASSIGN_OR_RETURN(ConfigSpace space, ConfigSpace::Create(tuning->task_, target, options.builders));
  tuning->space_ = std::make_unique<ConfigSpace>(std::move(space));
  tuning->features_ = std::make_unique<CandidateFeatures>(*tuning->space_, options.threads, options.builders);
  if (!options.use_defaults) tuning->space_->HideDefaults();
  tuning->slice_ = slice;
  tuning->sliced_ = std::make_unique<SlicedSpace>(*tuning->space_, slice);
  tuning->combines_ = options.part.combines();
  tuning->batch_ = options.batch;
  tuning->search_ = search->create({.seed = seed, .epsilon = options.random_share});
  tuning->progress_.weight = tuning->task_.uses;
  ASSIGN_OR_RETURN(const Workload workload, tuning->task_.Analyze());
  tuning->shape_ = ShapeOfTask(workload);
  tuning->progress_.family = FamilyOf(tuning->shape_, *tuning->space_);
  return tuning;
}

void TaskTuning::Transfer(std::span<const Record> records, const std::string& run) {
  std::vector<KnownTime> times;  // of the candidates in `observed_`
  double baseline = 0;           // the baseline's time when this run measured the following records
  for (const Record& record : records) {
    std::optional<Candidate> found = CandidateOf(record, *space_);
    if (!found.has_value()) continue;
    Candidate candidate = *std::move(found);
    const bool ok = record.outcome == TrialOutcome::kOk, is_own = record.run == run;
    const bool counts = is_own || combines_;
    ++(counts ? trials_ : transferred_);
    if (!ok && counts) ++failed_;
    times.push_back({KnownTime::KindOf(ok, record.search), ToString(candidate.strategy, candidate.config),
                     record.run, record.cache, record.timing.seconds, record.time_ms});
    if (is_own) {
      if (ok && candidate == space_->Default()) baseline = record.timing.seconds;
      if (ok && baseline > 0) resumed_[candidate] = record.timing.seconds / baseline;
      if (!ok) resumed_.erase(candidate);
    }
    observed_.push_back({std::move(candidate), ok, record.timing.seconds});
  }
  if (combines_) {
    KeepFoundByParts(records);
  } else {
    KeepKnown(times);
    KeepHistory(records, run);
  }
  search_->Observe(observed_);
}

void TaskTuning::KeepHistory(std::span<const Record> records, const std::string& run) {
  double baseline = 0, best = kNever;
  int64_t last_trial = 0;
  int in_batch = 0;
  for (const Record& record : records) {
    const std::optional<Candidate> candidate = CandidateOf(record, *space_);
    if (record.run != run || record.search == kConfirmation || !candidate.has_value()) continue;
    if (in_batch == batch_ || (in_batch > 0 && record.trial != last_trial + 1)) {
      resumed_best_.push_back(best);
      in_batch = 0;
    }
    ++in_batch;
    ++resumed_since_gain_;
    last_trial = record.trial;
    if (record.outcome != TrialOutcome::kOk) continue;
    if (*candidate == space_->Default()) baseline = record.timing.seconds;
    const double ratio = baseline > 0 ? record.timing.seconds / baseline : kNever;
    if (ratio >= best) continue;
    best = ratio;
    resumed_since_gain_ = 0;
  }
  if (in_batch > 0) resumed_best_.push_back(best);
}

void TaskTuning::KeepFoundByParts(std::span<const Record> records) {
  constexpr size_t kMost = 3;  // as many as are confirmed
  std::map<std::string, double> baselines;
  std::map<Candidate, double> ratios;  // the latest one of each; a failure has none
  for (const Record& record : records) {
    const std::optional<Candidate> candidate = CandidateOf(record, *space_);
    if (!candidate.has_value()) continue;
    const bool ok = record.outcome == TrialOutcome::kOk;
    if (ok && *candidate == space_->Default()) baselines[record.run] = record.timing.seconds;
    const auto baseline = baselines.find(record.run);
    if (!ok) {
      ratios.erase(*candidate);
    } else if (baseline != baselines.end() && baseline->second > 0) {
      ratios[*candidate] = record.timing.seconds / baseline->second;
    }
  }
  ratios.erase(space_->Default());
  std::vector<std::pair<double, Candidate>> faster;
  for (const auto& [candidate, ratio] : ratios)
    if (ratio < 1) faster.emplace_back(ratio, candidate);
  std::ranges::sort(faster);
  for (size_t i = 0; i < std::min(faster.size(), kMost); ++i) known_.push_back(faster[i].second);
}

// `times` are the times of the observed candidates.
void TaskTuning::KeepKnown(std::span<const KnownTime> times) {
  const std::vector<size_t> ranked = RankTimes(times);
  if (ranked.empty()) return;
  const size_t first = ranked.front();
  known_.push_back(observed_[first].candidate);
  if (times[first].kind != KnownTime::Kind::kConfirmed) return;
  confirmed_before_ = known_.front();
  // A run that ended early may have found a faster candidate that is not confirmed.
  std::map<Candidate, size_t> latest;
  for (const size_t place : ranked) {
    const auto [last, is_new] = latest.try_emplace(observed_[place].candidate, place);
    if (times[place].time_ms > times[last->second].time_ms) last->second = place;
  }
  const auto fastest =
      std::ranges::min_element(latest, {}, [&](const auto& entry) { return times[entry.second].seconds; });
  if (fastest->first != known_.front()) known_.push_back(fastest->first);
}

std::vector<Candidate> TaskTuning::First() const {
  std::vector<Candidate> first = {space_->Default()};
  for (const Candidate& known : known_) {
    const bool is_first = known == first.front() && !space_->hides_defaults();
    if (!is_first && !resumed_.contains(known)) first.push_back(known);
  }
  return first;
}

std::optional<Candidate> TaskTuning::Guess(std::span<const Candidate> others, const CostModel* model) {
  if (!known_.empty()) return std::nullopt;
  std::vector<Candidate> fitting = Fitting(others);
  std::erase_if(fitting, [&](const Candidate& candidate) {
    return candidate == space_->Default() || !slice_.Has(candidate);
  });
  if (!fitting.empty()) {
    const std::vector<float> scores = Scores(fitting, model);
    if (scores.empty()) return fitting.front();
    return fitting[static_cast<size_t>(std::ranges::max_element(scores) - scores.begin())];
  }
  if (!space_->hides_defaults() || space_->size() == 1) return std::nullopt;
  const std::vector<Candidate> proposed = Propose(1, model);
  return proposed.empty() ? std::nullopt : std::optional(proposed.front());
}

// Rescales what this run measured before it was killed by the baseline's new time.
void TaskTuning::Resume() {
  is_resuming_ = !resumed_best_.empty();
  for (const double ratio : std::exchange(resumed_best_, {}))
    progress_.best.push_back(ratio * baseline_seconds());
  for (const auto& [candidate, ratio] : std::exchange(resumed_, {})) {
    if (candidate == space_->Default()) continue;
    const double seconds = ratio * baseline_seconds();
    times_[candidate] = seconds;
    if (best_.has_value() && seconds >= best_seconds_) continue;
    best_ = candidate;
    best_seconds_ = seconds;
  }
}

std::vector<Candidate> TaskTuning::Fitting(std::span<const Candidate> others) {
  std::vector<Candidate> fitting;
  for (const Candidate& other : others) {
    const std::optional<Candidate> here = space_->Nearest(other);
    if (here.has_value() && std::ranges::find(fitting, *here) == fitting.end()) fitting.push_back(*here);
  }
  return fitting;
}

void TaskTuning::Hint(std::span<const Candidate> others) { search_->Hint(Fitting(others)); }

std::vector<Candidate> TaskTuning::Propose(int batch, const CostModel* model) {
  SearchState state{.space = sliced_.get()};
  if (model != nullptr && model->is_trained()) {
    state.score = [this, model](std::span<const Candidate> candidates) { return Scores(candidates, model); };
  }
  std::vector<Candidate> proposals = search_->Propose(batch, state);
  if (proposals.empty()) GiveUp();
  return proposals;
}

bool TaskTuning::IsReference(const Candidate& candidate) const {
  return space_->hides_defaults() && !baseline_.has_value() && candidate == space_->Default();
}

void TaskTuning::Add(const Candidate& candidate, const Measurement& measurement, const Blob& kernel,
                     const std::string& code_digest) {
  const double seconds = measurement.comparable_seconds();
  const bool is_reference = IsReference(candidate);
  if (candidate == space_->Default()) {
    const bool is_first = !baseline_.has_value();
    baseline_ = Baseline{kernel, code_digest, seconds};
    if (is_first) Resume();
  }
  if (is_reference) {
    if (space_->size() > 1) return;
    GiveUp();  // the only candidate counts without a trial
  } else {
    ++trials_;
  }
  unobserved_.push_back({candidate, /*ok=*/true, seconds});
  ++since_gain_;
  if (measurement.abandoned) return;
  times_[candidate] = seconds;
  if (best_.has_value() && seconds >= best_seconds_) return;
  best_ = candidate;
  best_seconds_ = seconds;
  since_gain_ = 0;
}

void TaskTuning::AddFailure(const Candidate& candidate) {
  unobserved_.push_back({candidate, /*ok=*/false, 0});
  ++trials_;
  ++failed_;
  ++since_gain_;
}

void TaskTuning::EndBatch() {
  const bool is_old = std::exchange(is_resuming_, false) && unobserved_.size() <= 1;
  search_->Observe(unobserved_);
  observed_.insert(observed_.end(), unobserved_.begin(), unobserved_.end());
  unobserved_.clear();
  features_->KeepOnly(observed_);
  space_->Forget();
  if (is_old) {
    since_gain_ = resumed_since_gain_;
  } else {
    progress_.best.push_back(best_.has_value() ? best_seconds_ : kNever);
  }
}

const Candidate* TaskTuning::found() const {
  if (best_.has_value() && *best_ != space_->Default()) return &*best_;
  return known_.empty() ? nullptr : &known_.front();
}

void TaskTuning::Confirm(const Candidate& candidate, double seconds, bool is_faster,
                         const std::string& code_digest) {
  times_[candidate] = seconds;
  confirmed_[candidate] = {is_faster, code_digest};
  if (candidate == space_->Default() && baseline_.has_value()) baseline_->seconds = seconds;
  best_ = space_->Default();
  best_seconds_ = baseline_seconds();
  for (const auto& [other, confirmation] : confirmed_) {
    if (!confirmation.is_faster || times_[other] >= best_seconds_) continue;
    best_ = other;
    best_seconds_ = times_[other];
  }
}

std::optional<TaskTuning::Code> TaskTuning::ConfirmedCode() const {
  if (!baseline_.has_value() || !best_.has_value() || *best_ == space_->Default()) return std::nullopt;
  const auto found = confirmed_.find(*best_);
  if (found == confirmed_.end()) return std::nullopt;
  return Code{baseline_->code_digest, found->second.code_digest};
}

std::vector<Candidate> TaskTuning::ToConfirm(size_t most) const {
  if (!baseline_.has_value()) return {};
  double fastest = baseline_seconds();
  for (const auto& [candidate, confirmation] : confirmed_) fastest = std::min(fastest, times_.at(candidate));
  std::vector<std::pair<double, Candidate>> faster;
  for (const auto& [candidate, seconds] : times_) {
    const bool is_known = confirmed_.contains(candidate) || candidate == space_->Default();
    if (seconds < fastest && !is_known) faster.emplace_back(seconds, candidate);
  }
  std::ranges::sort(faster);
  std::vector<Candidate> next;
  for (const auto& [seconds, candidate] : faster) {
    if (next.size() < most) next.push_back(candidate);
  }
  // Otherwise a candidate that an earlier run has confirmed would still count, whatever this run has
  // measured.
  const bool is_left = confirmed_before_.has_value() && *confirmed_before_ != space_->Default();
  if (next.empty() && confirmed_.empty() && is_left && most > 0) next.push_back(*confirmed_before_);
  return next;
}

TaskSummary TaskTuning::Summary() const {
  constexpr size_t kDescriptionBytes = 120;
  const std::optional<Code> confirmed = ConfirmedCode();
  const std::string baseline = baseline_.has_value() ? baseline_->code_digest : "";
  return {.description = DescribeTask(task_.text, kDescriptionBytes),
          .digest = task_.digest,
          .uses = task_.uses,
          .flops = task_.flops,
          .bytes = task_.bytes,
          .default_seconds = baseline_seconds(),
          .best_seconds = best_seconds_,
          .roofline_seconds = progress_.lower_bound,
          .bound_seconds = bound_,
          .default_config = ToString(space_->Default().strategy, space_->Default().config),
          .best_config = best_.has_value() ? ToString(best_->strategy, best_->config) : "",
          .kernel = confirmed.has_value() ? confirmed->best : baseline,
          .trials = trials_,
          .failed = failed_,
          .transferred = transferred_};
}

}  // namespace attune
