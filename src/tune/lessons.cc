#include "tune/lessons.h"

#include <map>
#include <tuple>
#include <utility>

#include "base/status.h"
#include "tune/pretrained.h"
#include "tune/task_tuning.h"

namespace attune {

absl::StatusOr<std::vector<TaskSamples>> LessonsOf(RecordDatabase& records, const Target& target,
                                                   const LessonOptions& options) {
  // Times compare within one of these alone.
  using Group = std::tuple<std::string, std::string, int, CacheMode>;  // task, device, threads, caches
  std::map<Group, std::vector<Record>> groups;
  RETURN_IF_ERROR(records.ForEachRecord(options.which, [&](const Record& record) {
    if (!options.without.contains(record.task)) {
      groups[{record.task, record.device, record.threads, record.cache}].push_back(record);
    }
    return absl::OkStatus();
  }));
  std::vector<TaskSamples> lessons;
  for (auto& [group, own] : groups) {
    absl::StatusOr<TuningTask> task = ParseTask(own.front().task);
    if (!task.ok()) continue;
    TuningOptions tuning;
    tuning.threads = own.front().threads;
    const auto tried = TaskTuning::Create(*std::move(task), target, tuning, 0, 0);
    if (!tried.ok()) continue;
    const size_t spared = std::min(own.size(), options.most_records);
    (*tried)->Transfer(std::span(own).last(spared), "");
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
