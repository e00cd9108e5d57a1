#include "tune/cost_model/transfer_samples.h"

#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/processors.h"
#include "base/status.h"
#include "tune/cost_model/candidate_features.h"
#include "tune/cost_model/pretrained.h"
#include "tune/records/record_candidate.h"

namespace attune {

namespace {

// Times are only comparable within one group: a task, device, number of threads and cache mode.
using Group = std::tuple<std::string, std::string, int, CacheMode>;
using Groups = std::map<Group, std::deque<Record>>;

Group GroupOf(const Record& record) { return {record.task, record.device, record.threads, record.cache}; }

std::vector<TaskSamples> SamplesOfGroups(const Groups& groups, const Target& target) {
  std::vector<TaskSamples> samples;
  for (const auto& [group, own] : groups) {
    absl::StatusOr<TuningTask> task = ParseTask(own.front().task);
    if (!task.ok()) continue;
    absl::StatusOr<ConfigSpace> space = ConfigSpace::Create(*task, target, Processors());
    if (!space.ok()) continue;
    std::vector<Trial> trials;
    for (const Record& record : own) {
      std::optional<Candidate> candidate = CandidateOf(record, *space);
      const bool ok = record.outcome == TrialOutcome::kOk;
      if (candidate.has_value()) trials.push_back({*std::move(candidate), ok, record.timing.seconds});
    }
    CandidateFeatures features(*space, own.front().threads, Processors());
    if (TaskSamples of_task = features.SamplesOf(trials); of_task.features.size() > 1)
      samples.push_back(std::move(of_task));
  }
  return samples;
}

}  // namespace

absl::StatusOr<std::vector<TaskSamples>> TransferSamplesOf(RecordDatabase& records, const Target& target,
                                                           const TransferOptions& options) {
  Groups groups;
  RETURN_IF_ERROR(records.ForEachRecord(options.which, [&](const Record& record) {
    if (options.without.contains(record.task)) return absl::OkStatus();
    std::deque<Record>& newest = groups[GroupOf(record)];
    newest.push_back(record);
    if (newest.size() > options.most_records) newest.pop_front();
    return absl::OkStatus();
  }));
  return SamplesOfGroups(groups, target);
}

std::vector<TaskSamples> SamplesOfRecords(std::span<const Record> records, const Target& target) {
  Groups groups;
  for (const Record& record : records) groups[GroupOf(record)].push_back(record);
  return SamplesOfGroups(groups, target);
}

absl::StatusOr<std::shared_ptr<const TreeEnsemble>> ParseCostModel(std::string_view text) {
  ASSIGN_OR_RETURN(TreeEnsemble trees,
                   TreeEnsemble::Parse(text, static_cast<int>(FeatureNames().size()), kFeatureVersion));
  return std::make_shared<const TreeEnsemble>(std::move(trees));
}

std::shared_ptr<const TreeEnsemble> PretrainedModel() {
  return ParseCostModel(kPretrainedModel).value_or(nullptr);
}

}  // namespace attune
