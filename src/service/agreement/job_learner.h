// Learns from jobs that are over, which later forecasts are made from.
#ifndef ATTUNE_SERVICE_AGREEMENT_JOB_LEARNER_H_
#define ATTUNE_SERVICE_AGREEMENT_JOB_LEARNER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/background_loop.h"
#include "base/metrics_text.h"
#include "service/agreement/known_answers.h"
#include "service/agreement/promise.h"
#include "service/agreement/quantization_model.h"
#include "service/queue/ended_jobs.h"
#include "service/queue/job_reader.h"
#include "work/store/job_store.h"

namespace attune {

// Counts the promises of jobs that were met and broken. Thread safe.
class PromiseCounts {
 public:
  PromiseCounts();

  // The promises of a job that has ended.
  void Count(const std::vector<Promise>& promises);
  void AddTo(MetricsText& text) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, PromiseState>, int64_t> counts_;  // by name and state: met or broken
};

// Thread safe. The arguments must outlive it.
class JobLearner {
 public:
  JobLearner(JobReader& jobs, EndedJobs& ended, KnownAnswers& known, QuantizationModel& quantizations,
             PromiseCounts& promises)
      : jobs_(jobs), ended_jobs_(ended), known_(known), quantizations_(quantizations), promises_(promises) {}
  ~JobLearner() { Stop(); }

  // Learns from jobs as they end, also from those that have ended before. Fails if the system has no thread
  // to give.
  absl::Status Begin();
  void Stop();

 private:
  struct EndedJob {
    JobQuery job = {};
    bool is_new = true;  // and not from before this process
  };

  // Learns from the next job that waits.
  double Step();
  // Takes the jobs that an earlier process of the server has not learned from.
  void CatchUp();
  void LearnFrom(const EndedJob& job);
  // Counts which promises of a job that has just ended were met.
  void CountPromises(const JobRecord& job);

  JobReader& jobs_;
  EndedJobs& ended_jobs_;
  KnownAnswers& known_;
  QuantizationModel& quantizations_;
  PromiseCounts& promises_;

  std::mutex mutex_;
  std::deque<EndedJob> ended_;  // to learn from
  bool has_caught_up_ = false;  // for the thread
  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_JOB_LEARNER_H_
