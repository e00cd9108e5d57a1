#include "tune/records/record_chooser.h"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tune/task/similarity.h"
#include "tune/task/space.h"

namespace attune {

StrategyVersions CurrentStrategyVersions() {
  StrategyVersions versions;
  for (const Strategy& strategy : AllStrategies()) versions[std::string(strategy.name)] = strategy.version;
  return versions;
}

// Tasks whose best record is confirmed. Their texts are only parsed when they are first needed: a database
// may have thousands of tasks.
class RecordChooser::Neighbours {
 public:
  struct Similar {
    Candidate candidate;
    std::string record;  // digest of the record
  };

  void Add(const Record& record) {
    records_.try_emplace(record.task,
                         Similar{Candidate{record.strategy, record.config}, RecordDigest(record)});
  }

  // The best record of the nearest task; null if no task is near.
  const Similar* Nearest(const Workload& workload) {
    std::call_once(read_, [this] { Read(); });
    const TaskShape shape = ShapeOfTask(workload);
    double nearest = kNear;
    const Similar* found = nullptr;
    for (const auto& [other, similar] : shapes_) {
      const double distance = TaskDistance(shape, other);
      if (distance >= nearest) continue;
      nearest = distance;
      found = similar;
    }
    return found;
  }

 private:
  // An image that is an eighth wider and higher is nearer than that, twice the channels are not.
  static constexpr double kNear = 1;

  void Read() {
    for (const auto& [text, similar] : records_) {
      absl::StatusOr<TaskShape> shape = ShapeOfTask(text);
      if (shape.ok()) shapes_.emplace_back(*std::move(shape), &similar);
    }
  }

  std::map<std::string, Similar> records_;
  std::once_flag read_;
  std::vector<std::pair<TaskShape, const Similar*>> shapes_;
};

RecordChooser::RecordChooser(std::map<std::string, Candidate> best) {
  for (auto& [task, candidate] : best) best_[task] = {std::move(candidate), "", "", 0};
}
RecordChooser::~RecordChooser() = default;
RecordChooser::RecordChooser(RecordChooser&&) noexcept = default;

absl::StatusOr<RecordChooser> RecordChooser::Load(RecordDatabase& database, const std::string& device,
                                                  int threads, const std::string& run) {
  // Times with different caches are not comparable: begin with the mode that says most about a network.
  std::map<std::string, Known> best, by_others;
  auto neighbours = std::make_unique<Neighbours>();
  for (const CacheMode cache : {CacheMode::kNetwork, CacheMode::kWarm, CacheMode::kCold}) {
    ASSIGN_OR_RETURN(const std::vector<BestRecord> records,
                     database.Best({.device = device, .run = run, .cache = cache},
                                   {.versions = CurrentStrategyVersions()}));
    for (const auto& [record, prior] : records) {
      const bool is_own = record.threads == threads;
      const bool is_confirmed = is_own && record.search == kConfirmation;
      const double seconds = is_confirmed && cache == CacheMode::kNetwork ? record.timing.seconds : 0;
      (is_own ? best : by_others)
          .try_emplace(
              record.task,
              Known{{record.strategy, record.config}, record.code_digest, RecordDigest(record), seconds});
      if (is_confirmed) neighbours->Add(record);
    }
  }
  best.merge(by_others);
  RecordChooser chooser({});
  chooser.best_ = std::move(best);
  chooser.neighbours_ = std::move(neighbours);
  return chooser;
}

absl::Status RecordChooser::NameRecords(RecordDatabase& database, const std::string& run) {
  return database.ForEachRecord({.run = run}, [&](const Record& record) {
    const auto known = best_.find(record.task);
    if (known != best_.end() && known->second.candidate == Candidate{record.strategy, record.config})
      known->second.record = RecordDigest(record);
    return absl::OkStatus();
  });
}

double RecordChooser::SecondsOf(const std::string& task) const {
  const auto found = best_.find(task);
  return found == best_.end() ? 0 : found->second.seconds;
}

absl::StatusOr<KernelChoice> RecordChooser::Choose(const Workload& workload, const std::string& task,
                                                   const Target& target) const {
  if (const auto it = best_.find(task); it != best_.end()) {
    const Candidate& candidate = it->second.candidate;
    const Strategy* strategy = FindStrategy(candidate.strategy);
    if (strategy == nullptr || !strategy->why_not(workload, target).empty() ||
        !IsConfigOf(candidate.config, strategy->space(workload, target)) ||
        !ScheduleBy(*strategy, workload, candidate.config, target).ok()) {
      return ChooseAnalytically(workload, target);
    }
    return KernelChoice{strategy, candidate.config, ChosenBy::kRecords, it->second.code_digest,
                        it->second.record};
  }
  const Neighbours::Similar* similar = neighbours_ == nullptr ? nullptr : neighbours_->Nearest(workload);
  if (similar == nullptr) return ChooseAnalytically(workload, target);
  ASSIGN_OR_RETURN(const TuningTask parsed, ParseTask(task));
  ASSIGN_OR_RETURN(ConfigSpace space, ConfigSpace::Create(parsed, target));
  const std::optional<Candidate> moved = space.Nearest(similar->candidate);
  if (!moved.has_value()) return ChooseAnalytically(workload, target);
  return KernelChoice{FindStrategy(moved->strategy), moved->config, ChosenBy::kSimilarRecords, "",
                      similar->record};
}

}  // namespace attune
