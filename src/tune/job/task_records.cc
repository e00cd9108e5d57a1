#include "tune/job/task_records.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "tune/records/known_times.h"
#include "tune/records/record_candidate.h"

namespace attune {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Adds the best after each batch of the search, and how many trials ago that was found.
void AddBatches(std::span<const FittingRecord> records, const std::string& run, const Candidate& baseline,
                int batch, ResumedRun& resumed) {
  double baseline_seconds = 0, best = kNever;
  int64_t last_trial = 0;
  int in_batch = 0;
  for (const FittingRecord& known : records) {
    const Record& record = *known.record;
    if (record.run != run || record.search == kConfirmation) continue;
    if (in_batch == batch || (in_batch > 0 && record.trial != last_trial + 1)) {
      resumed.best.push_back(best);
      in_batch = 0;
    }
    ++in_batch;
    ++resumed.since_gain;
    last_trial = record.trial;
    if (!known.ok()) continue;
    if (known.candidate == baseline) baseline_seconds = record.timing.seconds;
    const double ratio = baseline_seconds > 0 ? record.timing.seconds / baseline_seconds : kNever;
    if (ratio >= best) continue;
    best = ratio;
    resumed.since_gain = 0;
  }
  if (in_batch > 0) resumed.best.push_back(best);
}

}  // namespace

std::vector<FittingRecord> FittingRecords(std::span<const Record> records, const ConfigSpace& space) {
  std::vector<FittingRecord> fitting;
  for (const Record& record : records) {
    if (auto candidate = CandidateOf(record, space)) fitting.push_back({&record, *std::move(candidate)});
  }
  return fitting;
}

KnownCandidates BestByRecords(std::span<const FittingRecord> records) {
  std::vector<KnownTime> times;
  for (const FittingRecord& known : records) {
    const Record& record = *known.record;
    times.push_back({KnownTime::KindOf(known.ok(), record.search),
                     ToString(known.candidate.strategy, known.candidate.config), record.run, record.cache,
                     record.timing.seconds, record.time_ms});
  }
  const std::vector<size_t> ranked = RankTimes(times);
  if (ranked.empty()) return {};
  KnownCandidates known;
  known.best.push_back(records[ranked.front()].candidate);
  if (times[ranked.front()].kind != KnownTime::Kind::kConfirmed) return known;
  known.confirmed = known.best.front();
  // A run that ended early may have found a faster candidate that is not confirmed.
  std::map<Candidate, size_t> latest;
  for (const size_t index : ranked) {
    const auto [last, is_new] = latest.try_emplace(records[index].candidate, index);
    if (times[index].time_ms > times[last->second].time_ms) last->second = index;
  }
  const auto fastest =
      std::ranges::min_element(latest, {}, [&](const auto& entry) { return times[entry.second].seconds; });
  if (fastest->first != known.best.front()) known.best.push_back(fastest->first);
  return known;
}

KnownCandidates BestOfParts(std::span<const FittingRecord> records, const Candidate& baseline) {
  constexpr size_t kMost = 3;  // as many as are confirmed
  std::map<std::string, double> baselines;
  std::map<Candidate, double> ratios;  // the latest one of each; a failure has none
  for (const FittingRecord& known : records) {
    const Record& record = *known.record;
    if (known.ok() && known.candidate == baseline) baselines[record.run] = record.timing.seconds;
    const auto of_run = baselines.find(record.run);
    if (!known.ok()) {
      ratios.erase(known.candidate);
    } else if (of_run != baselines.end() && of_run->second > 0) {
      ratios[known.candidate] = record.timing.seconds / of_run->second;
    }
  }
  ratios.erase(baseline);
  std::vector<std::pair<double, Candidate>> faster;
  for (const auto& [candidate, ratio] : ratios)
    if (ratio < 1) faster.emplace_back(ratio, candidate);
  std::ranges::sort(faster);
  KnownCandidates known;
  for (size_t i = 0; i < std::min(faster.size(), kMost); ++i) known.best.push_back(faster[i].second);
  return known;
}

ResumedRun ResumedRun::Of(std::span<const FittingRecord> records, const std::string& run,
                          const Candidate& baseline, int batch) {
  ResumedRun resumed;
  double baseline_seconds = 0;  // when the run measured the following records
  for (const FittingRecord& known : records) {
    const double seconds = known.record->timing.seconds;
    if (known.record->run != run) continue;
    if (known.ok() && known.candidate == baseline) baseline_seconds = seconds;
    if (known.ok() && baseline_seconds > 0) resumed.ratios[known.candidate] = seconds / baseline_seconds;
    if (!known.ok()) resumed.ratios.erase(known.candidate);
  }
  AddBatches(records, run, baseline, batch, resumed);
  return resumed;
}

}  // namespace attune
