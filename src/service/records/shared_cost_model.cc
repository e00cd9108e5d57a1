#include "service/records/shared_cost_model.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/status.h"
#include "tune/cost_model/rank_correlation.h"
#include "tune/cost_model/transfer_samples.h"

namespace attune {
namespace {

constexpr int kRounds = 200, kDepth = 5;

// A model that predicts by these trees alone.
std::unique_ptr<CostModel> ModelOf(std::shared_ptr<const TreeEnsemble> trees) {
  return MakeBoostedTrees({.base = std::move(trees)});
}

}  // namespace

bool IsHeldBack(const std::string& task_digest) {
  constexpr std::string_view kHeldBack = "012";  // three of sixteen
  return !task_digest.empty() && kHeldBack.find(task_digest.front()) != std::string_view::npos;
}

bool IsUsable(const std::string& text) { return ParseCostModel(text).ok(); }

std::optional<double> RankingOf(const CostModel& model, std::span<const TaskSamples> tasks) {
  double sum = 0, count = 0;
  for (const TaskSamples& task : tasks) {
    const auto predicted = model.Predict(task.features);
    if (!predicted.ok()) return std::nullopt;
    const std::optional<double> tau = KendallTau(*predicted, task.throughput);
    if (!tau) continue;
    sum += *tau;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

absl::Status SharedCostModel::Gather(const std::string& tenant, RecordDatabase& from,
                                     const std::map<std::string, Target>& devices) {
  constexpr size_t kAtOnce = 500;
  std::vector<Record> batch;
  const auto flush = [&] {
    const std::vector<Record> records = std::exchange(batch, {});
    return records.empty() ? absl::OkStatus() : store_.AddRecords(tenant, records);
  };
  for (const auto& [device, target] : devices) {
    RETURN_IF_ERROR(from.ForEachRecord({.device = device}, [&](const Record& record) {
      batch.push_back(record);
      return batch.size() < kAtOnce ? absl::OkStatus() : flush();
    }));
  }
  return flush();
}

absl::StatusOr<bool> SharedCostModel::LearnIfDue(const std::map<std::string, Target>& devices) {
  ASSIGN_OR_RETURN(const CostModelStore::Count count, store_.CountRecords());
  // A tenant may have left.
  if (count.since_latest < in_vain_) in_vain_ = 0;
  if (count.since_latest - in_vain_ < options_.every) return false;
  RETURN_IF_ERROR(Learn(devices, count.all));
  ASSIGN_OR_RETURN(const CostModelStore::Count after, store_.CountRecords());
  in_vain_ = after.since_latest;
  return true;
}

absl::StatusOr<SharedCostModel::Samples> SharedCostModel::SamplesOf(
    const std::map<std::string, Target>& devices) {
  std::map<std::string, int64_t> latest;  // records, by task
  for (const auto& [device, target] : devices) {
    ASSIGN_OR_RETURN(const auto tasks, store_.Tasks(device, options_.most_tasks));
    for (const LearnedTask& task : tasks) latest[task.digest] = std::max(latest[task.digest], task.last);
  }
  std::vector<std::pair<int64_t, std::string>> tasks;
  for (const auto& [task, last] : latest) tasks.emplace_back(last, task);
  std::ranges::sort(tasks, std::greater<>());
  tasks.resize(std::min(tasks.size(), static_cast<size_t>(options_.most_tasks)));
  Samples samples;
  for (const auto& [last, task] : tasks) {
    for (const auto& [device, target] : devices) {
      ASSIGN_OR_RETURN(const std::vector<Record> records,
                       store_.Records(task, device, static_cast<int64_t>(options_.most_records)));
      std::ranges::move(SamplesOfRecords(records, target),
                        std::back_inserter(IsHeldBack(task) ? samples.held_back : samples.taught));
    }
  }
  return samples;
}

absl::Status SharedCostModel::Learn(const std::map<std::string, Target>& devices, int64_t records) {
  ASSIGN_OR_RETURN(const Samples samples, SamplesOf(devices));
  const std::unique_ptr<CostModel> model =
      MakeBoostedTrees({.rounds = kRounds, .depth = kDepth, .base = PretrainedModel()});
  const absl::Status learned = model->Update(samples.taught);
  // There may be nothing to learn from yet, or no tasks to judge by.
  if (absl::IsInvalidArgument(learned) || absl::IsFailedPrecondition(learned)) return absl::OkStatus();
  RETURN_IF_ERROR(learned);
  const std::optional<double> ranking = RankingOf(*model, samples.held_back);
  if (!ranking) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string text, model->Serialize());
  CostModelVersion version = {.created_ms = clock_.WallMillis(),
                              .records = records,
                              .tasks = std::ssize(samples.taught),
                              .held_back = std::ssize(samples.held_back),
                              .ranking = *ranking};
  ASSIGN_OR_RETURN(const std::optional<std::string> current, store_.Current());
  // Before the first one, jobs begin with the one that is built in.
  std::shared_ptr<const TreeEnsemble> before = PretrainedModel();
  if (current) before = ParseCostModel(*current).value_or(nullptr);
  if (before != nullptr) version.ranking_before = RankingOf(*ModelOf(before), samples.held_back);
  if (version.ranking_before && *ranking < *version.ranking_before)
    version.state = CostModelState::kRolledBack;
  ASSIGN_OR_RETURN(const int64_t number, store_.Add(version, text));
  Log(LogLevel::kInfo, "cost model is learned", "version", number, "records", records, "ranking", *ranking,
      "state", Name(version.state));
  return absl::OkStatus();
}

}  // namespace attune
