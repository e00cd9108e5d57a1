#include "service/agreement/job_learner.h"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "base/guarded.h"
#include "base/log.h"
#include "service/agreement/observation.h"
#include "service/agreement/promises_of_job.h"
#include "work/job/job_id.h"

namespace attune {
namespace {

constexpr int64_t kMostToCatchUp = 1000;

void LogNotLearned(const JobQuery& job, const absl::Status& why) {
  Log(LogLevel::kWarning, "the model does not learn from a job", "job", job.id, "reason", why.message());
}

}  // namespace

// Each is there from the beginning, so that a first broken promise is an increase.
PromiseCounts::PromiseCounts() {
  for (const char* name : {kLatencyMean, kLatencyP99, kAccuracyLoss, kSizeBytes, kDeadline, kDeviceSeconds})
    for (const PromiseState state : {PromiseState::kMet, PromiseState::kBroken}) counts_[{name, state}] = 0;
}

void PromiseCounts::Count(const std::vector<Promise>& promises) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Promise& promise : promises) {
    const auto found = counts_.find({promise.name, promise.state});
    if (found != counts_.end()) ++found->second;
  }
}

void PromiseCounts::AddTo(MetricsText& text) const {
  text.Begin("attune_promises_total", "counter", "Promises of jobs that have run and ended, by result.");
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [promise, count] : counts_)
    text.Add(static_cast<double>(count),
             {{"promise", promise.first}, {"result", std::string(Name(promise.second))}});
}

absl::Status JobLearner::Begin() {
  ended_jobs_.Listen([this](const std::string& job) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ended_.push_back({.job = {.id = job}});
    }
    loop_.Wake();
  });
  return loop_.Start();
}

void JobLearner::Stop() {
  ended_jobs_.Listen(nullptr);
  loop_.Stop();
}

double JobLearner::Step() {
  if (!std::exchange(has_caught_up_, true)) CatchUp();
  EndedJob job;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ended_.empty()) return BackgroundLoop::kUntilWoken;
    job = std::move(ended_.front());
    ended_.pop_front();
  }
  const absl::Status worked = Guarded([&] { LearnFrom(job); });
  if (!worked.ok())
    Log(LogLevel::kError, "the model does not learn from a job", "job", job.job.id, "reason",
        worked.message());
  return 0;
}

// The same job twice does no harm.
void JobLearner::CatchUp() {
  const auto refreshed = known_.Refresh();
  const auto jobs = jobs_.List({.state = JobState::kDone, .most = kMostToCatchUp});
  if (!refreshed.ok() || !jobs.ok()) {
    Log(LogLevel::kWarning, "the model does not learn from earlier jobs", "reason",
        (refreshed.ok() ? jobs.status() : refreshed).message());
    return;
  }
  const std::set<std::string> learned = known_.Jobs();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const jobs_service_proto::Job& job : *jobs)
    if (job.kind() == "quantization" || (job.kind() == "tuning" && !learned.contains(job.id()) &&
                                         !learned.contains(StoredJobId(job.id(), job.owner()))))
      ended_.push_front({.job = {.id = job.id(), .owner = job.owner()}, .is_new = false});
}

void JobLearner::LearnFrom(const EndedJob& job) {
  const absl::StatusOr<JobRecord> record = jobs_.Find(job.job);
  if (!record.ok()) return LogNotLearned(job.job, record.status());
  if (job.is_new) CountPromises(*record);
  if (std::optional<Quantization> quantization = QuantizationOf(*record); quantization.has_value())
    quantizations_.Add(*std::move(quantization));
  const absl::StatusOr<Observation> observation = ObservationOf(*record);
  if (absl::IsNotFound(observation.status())) return;
  const absl::Status kept = observation.ok() ? known_.Add(*observation) : observation.status();
  if (!kept.ok()) LogNotLearned(job.job, kept);
}

void JobLearner::CountPromises(const JobRecord& job) {
  promises_.Count(PromisesOf({.kind = job.spec.kind,
                              .state = std::string(Name(job.state)),
                              .agreement = job.spec.agreement,
                              .result = job.result,
                              .submitted_ms = job.submitted_ms,
                              .ended_ms = job.ended_ms}));
}

}  // namespace attune
