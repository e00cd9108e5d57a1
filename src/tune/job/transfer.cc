#include "tune/job/transfer.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/status.h"
#include "tune/cost_model/transfer_samples.h"
#include "tune/records/record_chooser.h"
#include "tune/task/similarity.h"

namespace attune {
namespace {

// Tasks at this distance or more say nothing about one another. Then: from how many other tasks the cost
// model learns, from how many of the latest records of each, and from how many tasks the best config is
// tried.
constexpr double kFarthest = 8;
constexpr size_t kMostTasks = 24, kMostRecords = 128, kMostHints = 6;

}  // namespace

absl::Status Transfer::Load() {
  const RecordFilter filter = {
      .device = context_.run.device, .threads = context_.run.threads, .cache = context_.options.cache};
  ASSIGN_OR_RETURN(const std::vector<BestRecord> best,
                   context_.tools.records->Best(filter, {.versions = CurrentStrategyVersions()}));
  std::set<std::string> own;
  for (const auto& task : context_.tasks) own.insert(task->task().text);
  std::vector<std::pair<double, std::string>> nearest;  // task digests
  for (const auto& [record, prior] : best) {
    if (own.contains(record.task)) continue;
    // The text of a task from another version may no longer be valid.
    absl::StatusOr<TaskShape> shape = ShapeOfTask(record.task);
    if (!shape.ok()) continue;
    double distance = kFarthest;
    for (const auto& task : context_.tasks)
      distance = std::min(distance, TaskDistance(task->shape(), *shape));
    if (distance >= kFarthest) continue;
    others_.push_back({*std::move(shape), {record.strategy, record.config}});
    nearest.emplace_back(distance, TaskDigest(record.task));
  }
  if (context_.tools.model == nullptr) return absl::OkStatus();
  std::ranges::sort(nearest);
  for (size_t i = 0; i < std::min(nearest.size(), kMostTasks); ++i) {
    TransferOptions options = {.which = filter, .most_records = kMostRecords};
    options.which.task = nearest[i].second;
    ASSIGN_OR_RETURN(std::vector<TaskSamples> found,
                     TransferSamplesOf(*context_.tools.records, context_.target, options));
    std::ranges::move(found, std::back_inserter(samples_));
  }
  return absl::OkStatus();
}

std::vector<Candidate> Transfer::FoundElsewhere(size_t task) const {
  const TaskShape& shape = context_.tasks[task]->shape();
  std::vector<std::pair<double, const Candidate*>> found;
  for (size_t i = 0; i < context_.tasks.size(); ++i) {
    if (const Candidate* best = context_.tasks[i]->found(); best != nullptr && i != task) {
      found.emplace_back(TaskDistance(shape, context_.tasks[i]->shape()), best);
    }
  }
  for (const OtherTask& other : others_) found.emplace_back(TaskDistance(shape, other.shape), &other.best);
  std::erase_if(found, [](const auto& pair) { return pair.first >= kFarthest; });
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : *a.second < *b.second;
  });
  std::vector<Candidate> nearest;
  for (const auto& [distance, candidate] : found) {
    if (nearest.size() < kMostHints) nearest.push_back(*candidate);
  }
  return nearest;
}

}  // namespace attune
