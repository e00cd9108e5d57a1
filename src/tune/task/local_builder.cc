#include "tune/task/local_builder.h"

#include <poll.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "base/process/message.h"
#include "base/status.h"
#include "tune/task/build_worker.h"
#include "tune/task/codec.h"

namespace attune {
namespace {

constexpr int kAttempts = 2;         // of a candidate whose workers are killed from outside
constexpr double kEndSeconds = 2;    // for a worker whose socket has closed to be gone
constexpr double kSendSeconds = 10;  // for an idle worker to take its request

}  // namespace

// One call of Build: which worker has which request.
class LocalBuilder::Batch {
 public:
  Batch(LocalBuilder& builder, std::span<const BuildRequest> requests)
      : builder_(builder), requests_(requests), results_(requests.size()), attempts_(requests.size(), 0) {
    for (size_t i = 0; i < requests.size(); ++i) waiting_.push_back(i);
  }

  std::vector<BuildResult> Run() {
    while (!waiting_.empty() || !busy_.empty()) {
      if (absl::Status status = Assign(); !status.ok() && busy_.empty()) {
        for (; !waiting_.empty(); waiting_.pop_front())
          results_[waiting_.front()].reason = std::string(status.message());
        break;
      }
      AwaitAny();
    }
    return std::move(results_);
  }

 private:
  struct Job {
    size_t request;
    WorkerProcess* worker;
    Deadline start;
    Deadline deadline;
  };

  // Gives waiting requests to idle workers.
  absl::Status Assign() {
    RETURN_IF_ERROR(builder_.Grow(std::min(waiting_.size() + busy_.size(),
                                           static_cast<size_t>(std::max(1, builder_.options_.processes)))));
    for (const std::unique_ptr<WorkerProcess>& worker : builder_.workers_) {
      const bool is_busy =
          std::any_of(busy_.begin(), busy_.end(), [&](const Job& job) { return job.worker == worker.get(); });
      if (is_busy || waiting_.empty()) continue;
      const Job job = {waiting_.front(), worker.get(), std::chrono::steady_clock::now(),
                       After(builder_.options_.seconds_limit)};
      waiting_.pop_front();
      busy_.push_back(job);
      ++attempts_[job.request];
      // Where that fails, waiting for the answer tells why.
      worker->Send(EncodeBuildRequest(requests_[job.request]), After(kSendSeconds)).IgnoreError();
    }
    return absl::OkStatus();
  }

  // Waits until at least one worker answers, dies or takes too long.
  void AwaitAny() {
    std::vector<pollfd> entries;
    Deadline first = kNoDeadline;
    for (const Job& job : busy_) {
      entries.push_back({job.worker->socket(), POLLIN, 0});
      first = std::min(first, job.deadline);
    }
    poll(entries.data(), entries.size(), PollTimeout(first));
    const auto now = std::chrono::steady_clock::now();
    const std::vector<Job> jobs = std::move(busy_);
    busy_.clear();
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (entries[i].revents == 0 && now < jobs[i].deadline) {
        busy_.push_back(jobs[i]);
      } else {
        Finish(jobs[i]);
      }
    }
  }

  void Finish(const Job& job) {
    BuildResult& result = results_[job.request];
    const absl::StatusOr<std::string> message = ReceiveMessage(job.worker->socket(), job.deadline);
    absl::Status status = message.status();
    if (message.ok()) {
      absl::StatusOr<BuildResult> decoded = DecodeBuildResult(*message);
      if (decoded.ok()) {
        result = *std::move(decoded);
        return;
      }
      status = decoded.status();
    }
    Bury(job, status);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - job.start).count();
  }

  // Ends a worker that did not answer, and says of its request why.
  void Bury(const Job& job, const absl::Status& status) {
    BuildResult& result = results_[job.request];
    const bool is_gone = absl::IsUnavailable(status);
    const ProcessEnd end = job.worker->Stop(is_gone ? kEndSeconds : 0);
    std::erase_if(builder_.workers_, [&](const auto& worker) { return worker.get() == job.worker; });
    if (is_gone && end.killed && attempts_[job.request] < kAttempts) {
      waiting_.push_front(job.request);
    } else if (is_gone) {
      result.outcome = OutcomeOf(end);
      result.reason = absl::StrCat("the builder ended with ", end.reason);
    } else if (absl::IsDeadlineExceeded(status)) {
      result.outcome = TrialOutcome::kTimedOut;
      result.reason = absl::StrCat("building took longer than ", builder_.options_.seconds_limit, " s");
    } else {
      result.outcome = TrialOutcome::kCrashed;
      result.reason = absl::StrCat("the builder failed: ", status.message());
    }
  }

  LocalBuilder& builder_;
  std::span<const BuildRequest> requests_;
  std::vector<BuildResult> results_;
  std::vector<int> attempts_;
  std::deque<size_t> waiting_;
  std::vector<Job> busy_;
};

LocalBuilder::LocalBuilder(LocalBuilderOptions options) : options_(std::move(options)) {}

LocalBuilder::~LocalBuilder() = default;

absl::Status LocalBuilder::Grow(size_t count) {
  if (workers_.size() >= count) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string program, FindWorkerProgram(options_.worker_program));
  const Deadline deadline = After(options_.start_seconds_limit);
  std::vector<std::unique_ptr<WorkerProcess>> started;  // all of them first, since each takes its time
  while (workers_.size() + started.size() < count) {
    ASSIGN_OR_RETURN(started.emplace_back(),
                     WorkerProcess::Start(program, kBuilderKind, {options_.address_space_bytes}));
  }
  MessageWriter setup;
  setup.Double(options_.seconds_limit);
  setup.Bytes(EncodeTarget(options_.target));
  for (std::unique_ptr<WorkerProcess>& worker : started) {
    RETURN_IF_ERROR(worker->AwaitReady(deadline));
    RETURN_IF_ERROR(worker->Send(setup.text(), deadline));
    workers_.push_back(std::move(worker));
  }
  return absl::OkStatus();
}

std::vector<BuildResult> LocalBuilder::Build(std::span<const BuildRequest> requests) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_lock<MachineUse> computing;
  if (options_.use != nullptr) computing = std::shared_lock<MachineUse>(*options_.use);
  return Batch(*this, requests).Run();
}

std::vector<pid_t> LocalBuilder::WorkerPids() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<pid_t> pids;
  for (const std::unique_ptr<WorkerProcess>& worker : workers_) pids.push_back(worker->pid());
  return pids;
}

}  // namespace attune
