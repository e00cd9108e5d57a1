#include "tune/cost_model/transfer_samples.h"

#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "base/processors.h"
#include "base/status.h"
#include "tune/cost_model/pretrained.h"
#include "tune/job/task_tuning.h"

namespace attune {

absl::StatusOr<std::vector<TaskSamples>> LessonsOf(RecordDatabase& records, const Target& target,
                                                   const LessonOptions& options) {
  // Times compare within one of these alone.
  using Group = std::tuple<std::string, std::string, int, CacheMode>;  // task, device, threads, caches
  std::map<Group, std::deque<Record>> groups;
  RETURN_IF_ERROR(records.ForEachRecord(options.which, [&](const Record& record) {
    if (options.without.contains(record.task)) return absl::OkStatus();
    std::deque<Record>& newest = groups[{record.task, record.device, record.threads, record.cache}];
    newest.push_back(record);
    if (newest.size() > options.most_records) newest.pop_front();
    return absl::OkStatus();
  }));
  std::vector<TaskSamples> lessons;
  for (const auto& [group, newest] : groups) {
    const std::vector<Record> own(newest.begin(), newest.end());
    absl::StatusOr<TuningTask> task = ParseTask(own.front().task);
    if (!task.ok()) continue;
    TuningOptions tuning;
    tuning.threads = own.front().threads;
    tuning.builders = Processors();
    const auto tried = TaskTuning::Create(*std::move(task), target, tuning, 0, 0);
    if (!tried.ok()) continue;
    (*tried)->Transfer(own, "");
    if (TaskSamples samples = (*tried)->Samples(); samples.features.size() > 1)
      lessons.push_back(std::move(samples));
  }
  return lessons;
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
