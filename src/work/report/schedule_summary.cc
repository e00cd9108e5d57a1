#include "work/report/schedule_summary.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/quantile.h"

namespace attune {
namespace {

using Intervals = std::vector<std::pair<double, double>>;

// The length of the union: stages overlap if they are not coordinated.
double Covered(Intervals& intervals) {
  std::ranges::sort(intervals);
  double covered = 0, until = 0;
  for (const auto& [start, end] : intervals) {
    covered += std::max(0.0, end - std::max(start, until));
    until = std::max(until, end);
  }
  return covered;
}

std::vector<ResourceUse> Uses(const ScheduleRecord& record, double makespan) {
  const auto processors = static_cast<size_t>(record.host.processors);
  std::vector<Intervals> busy(processors + record.host.devices.size());
  for (const StageRecord& stage : record.stages) {
    for (const int processor : HeldProcessors(stage)) {
      const auto at = static_cast<size_t>(processor);
      if (at < processors) busy[at].emplace_back(stage.start, stage.end);
    }
    for (size_t d = 0; d < record.host.devices.size(); ++d) {
      if (HoldsDevice(stage, record.host, record.host.devices[d]))
        busy[processors + d].emplace_back(stage.start, stage.end);
    }
  }
  std::vector<ResourceUse> uses;
  for (size_t i = 0; i < busy.size(); ++i) {
    const bool is_device = i >= processors;
    ResourceUse& use = uses.emplace_back();
    use.name = is_device ? record.host.devices[i - processors].key : absl::StrCat("processor ", i);
    use.is_device = is_device;
    use.busy_seconds = Covered(busy[i]);
    if (makespan > 0) use.idle_share = std::clamp(1 - use.busy_seconds / makespan, 0.0, 1.0);
  }
  return uses;
}

bool IsPredicted(const StageRecord& stage) {
  return stage.outcome == StageOutcome::kDone && stage.stage.seconds.median > 0;
}

void Add(const StageRecord& stage, PredictionCounts& counts) {
  if (!IsPredicted(stage)) return;
  const double seconds = stage.end - stage.start;
  ++counts.predicted;
  counts.within += stage.stage.seconds.low <= seconds && seconds <= stage.stage.seconds.high;
}

template <typename Counts>
void CountOutcome(StageOutcome outcome, Counts& counts) {
  counts.done += outcome == StageOutcome::kDone;
  counts.failed += outcome == StageOutcome::kFailed;
  counts.lost += outcome == StageOutcome::kLost;
}

void Add(const StageRecord& stage, JobSummary& job) {
  CountOutcome(stage.outcome, job);
  job.seconds += stage.end - stage.start;
  job.waited += stage.start - stage.asked;
  job.end = std::max(job.end, stage.end);
}

void Add(const StageRecord& stage, StageKindSummary& kind) {
  CountOutcome(stage.outcome, kind);
  const double seconds = stage.end - stage.start;
  kind.waited += stage.start - stage.asked;
  if (stage.outcome == StageOutcome::kDone) kind.seconds += seconds;
  Add(stage, kind.predictions);
  if (!IsPredicted(stage)) return;
  kind.predicted_seconds += stage.stage.seconds.median;
  kind.real_seconds += seconds;
}

}  // namespace

double PredictionCounts::Share() const {
  return predicted == 0 ? 0 : static_cast<double>(within) / static_cast<double>(predicted);
}

double ScheduleSummary::IdleShare(bool of_devices) const {
  double sum = 0;
  int64_t count = 0;
  for (const ResourceUse& use : resources) {
    if (use.is_device != of_devices) continue;
    sum += use.idle_share;
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

ScheduleSummary Summarize(const ScheduleRecord& record) {
  ScheduleSummary summary;
  summary.jobs.resize(record.jobs.size());
  std::unordered_map<std::string_view, size_t> indices;
  for (size_t job = 0; job < record.jobs.size(); ++job) indices.emplace(record.jobs[job].spec.id, job);
  std::map<std::pair<std::string, std::string>, StageKindSummary> kinds;
  std::vector<double> waited;
  for (const StageRecord& stage : record.stages) {
    summary.makespan = std::max(summary.makespan, stage.end);
    waited.push_back(stage.start - stage.asked);
    Add(stage, summary.predictions);
    const auto job = indices.find(stage.job);
    if (job == indices.end()) continue;
    Add(stage, summary.jobs[job->second]);
    const std::string& job_kind = record.jobs[job->second].spec.kind;
    StageKindSummary& kind = kinds[{job_kind, stage.stage.name}];
    kind.job_kind = job_kind;
    kind.name = stage.stage.name;
    Add(stage, kind);
  }
  for (auto& [names, kind] : kinds) summary.kinds.push_back(std::move(kind));
  summary.waiting_p50 = QuantileOf(waited, 0.5);
  summary.waiting_p99 = QuantileOf(std::move(waited), 0.99);
  summary.resources = Uses(record, summary.makespan);
  for (size_t i = 0; i < record.jobs.size(); ++i) {
    const JobRecord& job = record.jobs[i];
    const double end = job.state == JobState::kDone ? summary.jobs[i].end : summary.makespan;
    summary.jobs[i].missed_deadline =
        job.spec.deadline_seconds.has_value() && end > *job.spec.deadline_seconds;
    summary.missed_deadlines += summary.jobs[i].missed_deadline;
  }
  return summary;
}

std::string_view Name(StageOutcome outcome) {
  switch (outcome) {
    case StageOutcome::kDone:
      return "done";
    case StageOutcome::kFailed:
      return "failed";
    case StageOutcome::kLost:
      break;
  }
  return "lost";
}

bool HoldsDevice(const StageRecord& stage, const HostResources& host, const DeviceResource& device) {
  if (!stage.stage.NeedsExclusively(device.key)) return false;
  // The stage held the processors of one of the devices with this key.
  if (std::ranges::count(host.devices, device.key, &DeviceResource::key) == 1) return true;
  const std::vector<int> held = HeldProcessors(stage);
  return std::ranges::all_of(device.processors,
                             [&](int processor) { return std::ranges::binary_search(held, processor); });
}

std::vector<int> HeldProcessors(const StageRecord& stage) {
  std::vector<int> held = stage.held;
  held.insert(held.end(), stage.processors.begin(), stage.processors.end());
  std::ranges::sort(held);
  held.erase(std::ranges::unique(held).begin(), held.end());
  return held;
}

}  // namespace attune
