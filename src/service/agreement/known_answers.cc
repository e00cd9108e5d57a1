#include "service/agreement/known_answers.h"

#include <algorithm>

#include "base/status.h"

namespace attune {
namespace {

constexpr double kRefreshSeconds = 1;
constexpr size_t kMostModels = 64;

const TaskTime* FindTask(const Observation& observation, const std::string& task) {
  const auto found = std::ranges::find(observation.tasks, task, &TaskTime::task);
  return found == observation.tasks.end() ? nullptr : &*found;
}

}  // namespace

Peaks BetterOf(const Peaks& a, const Peaks& b) {
  return {.gflops_per_core = std::max(a.gflops_per_core, b.gflops_per_core),
          .bf16_gflops_per_core = std::max(a.bf16_gflops_per_core, b.bf16_gflops_per_core),
          .int8_gops_per_core = std::max(a.int8_gops_per_core, b.int8_gops_per_core),
          .l2_gb_per_s = std::max(a.l2_gb_per_s, b.l2_gb_per_s),
          .l3_gb_per_s = std::max(a.l3_gb_per_s, b.l3_gb_per_s),
          .memory_gb_per_s = std::max(a.memory_gb_per_s, b.memory_gb_per_s),
          .l2_bytes = std::max(a.l2_bytes, b.l2_bytes)};
}

bool Meets(const Observation& observation, const Agreement& agreement) {
  const auto holds = [](double worse_end, const std::optional<double>& limit) {
    return !limit.has_value() || worse_end <= *limit;
  };
  return holds(observation.mean_ms.high, agreement.mean_ms) &&
         holds(observation.p99_ms.high, agreement.p99_ms) &&
         holds(observation.artifact_bytes, agreement.size_bytes);
}

absl::Status KnownAnswers::Add(const Observation& observation) {
  RETURN_IF_ERROR(store_.Add(observation));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    refreshed_ = -1e9;
  }
  return Refresh();
}

absl::Status KnownAnswers::RemoveTenant(const std::string& tenant) {
  RETURN_IF_ERROR(store_.RemoveTenant(tenant));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = 0;
    refreshed_ = -1e9;
    all_.clear();
    by_network_.clear();
    by_task_.clear();
    models_.clear();
  }
  return Refresh();
}

absl::Status KnownAnswers::Refresh() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const double now = clock_.Now();
  if (now - refreshed_ < kRefreshSeconds) return absl::OkStatus();
  ASSIGN_OR_RETURN(auto added, store_.ObservationsAfter(last_));
  for (auto& [number, observation] : added) Take(number, std::move(observation));
  refreshed_ = now;
  return absl::OkStatus();
}

// Later observations outdate earlier ones of the same tenant.
void KnownAnswers::Take(int64_t number, Observation observation) {
  last_ = number;
  const auto answer = std::make_shared<Answer>();
  answer->observation = std::make_shared<const Observation>(std::move(observation));
  const Observation& later = *answer->observation;
  for (const TaskTime& task : later.tasks) {
    std::vector<std::shared_ptr<Answer>>& others = by_task_[task.task];
    for (const std::shared_ptr<Answer>& other : others) {
      const Observation& earlier = *other->observation;
      if (earlier.device != later.device || earlier.threads != later.threads ||
          earlier.tenant != later.tenant)
        continue;
      const TaskTime* before = FindTask(earlier, task.task);
      const bool is_faster = task.tuned <= kClearlyFaster * before->tuned && task.kernel != before->kernel;
      other->is_outdated = other->is_outdated || is_faster;
    }
    others.push_back(answer);
  }
  by_network_[later.network].push_back(answer);
  all_.push_back(answer);
  models_.clear();
}

std::shared_ptr<const Observation> KnownAnswers::Fastest(
    const std::string& network, const std::function<bool(const Answer&)>& fits) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_network_.find(network);
  if (found == by_network_.end()) return nullptr;
  std::shared_ptr<const Observation> best;
  for (const std::shared_ptr<Answer>& answer : found->second) {
    if (!fits(*answer)) continue;
    if (best == nullptr || answer->observation->mean_ms.high < best->mean_ms.high) best = answer->observation;
  }
  return best;
}

std::shared_ptr<const Observation> KnownAnswers::Find(const AnswerQuery& query,
                                                      const Agreement& agreement) const {
  return Fastest(query.network, [&](const Answer& answer) {
    const Observation& known = *answer.observation;
    return !answer.is_outdated && !known.artifact.name.empty() && known.device == query.device &&
           known.threads == query.threads && known.interface == query.interface &&
           (query.compiler.empty() || known.compiler == query.compiler) && known.tenant == query.tenant &&
           Meets(known, agreement);
  });
}

std::shared_ptr<const Observation> KnownAnswers::FindShared(const AnswerQuery& query) const {
  const std::set<std::string> sharing = Sharing();
  return Fastest(query.network, [&](const Answer& answer) {
    const Observation& known = *answer.observation;
    return known.tenant != query.tenant && sharing.contains(known.tenant) && known.device == query.device &&
           known.threads == query.threads;
  });
}

std::set<std::string> KnownAnswers::Sharing() const {
  if (sharing_ == nullptr) return {};
  return sharing_().value_or(std::set<std::string>());
}

std::set<std::string> KnownAnswers::Others(Observers observers) const {
  return observers == Observers::kOwn ? std::set<std::string>() : Sharing();
}

std::vector<std::shared_ptr<const Observation>> KnownAnswers::SeenBy(const std::string& tenant,
                                                                     Observers observers) const {
  return SeenBy(tenant, Others(observers));
}

std::vector<std::shared_ptr<const Observation>> KnownAnswers::SeenBy(
    const std::string& tenant, const std::set<std::string>& sharing) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::shared_ptr<const Observation>> seen;
  for (const std::shared_ptr<Answer>& answer : all_) {
    const std::string& whose = answer->observation->tenant;
    if (whose == tenant || sharing.contains(whose)) seen.push_back(answer->observation);
  }
  return seen;
}

std::set<std::string> KnownAnswers::Jobs() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::set<std::string> jobs;
  for (const std::shared_ptr<Answer>& answer : all_) jobs.insert(answer->observation->job);
  return jobs;
}

std::shared_ptr<const LatencyModel> KnownAnswers::ModelFor(const std::string& tenant, Observers observers) {
  const std::set<std::string> sharing = Others(observers);
  int64_t version = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    version = last_;
    const auto found = models_.find({tenant, sharing});
    if (found != models_.end() && found->second.version == version) return found->second.model;
  }
  auto model = std::make_shared<const LatencyModel>(SeenBy(tenant, sharing));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (models_.size() >= kMostModels) models_.clear();
  models_[{tenant, sharing}] = {version, model};
  return model;
}

Peaks KnownAnswers::PeaksOf(const std::string& tenant, const std::string& device, int threads) const {
  Peaks best;
  for (const auto& seen : SeenBy(tenant, Observers::kOwn))
    if (seen->device == device && seen->threads == threads) best = BetterOf(best, seen->peaks);
  return best;
}

}  // namespace attune
