// The runners of a server: processes on machines that have connected to it.
//
// Problem: machines come and go while jobs run on them, and what is said to one that is gone is lost. Idea: a
// machine is a host of the schedule as long as its connection lasts. With the connection end all processes
// that it had, on both sides, so that a job is never in two places; the schedule opens it elsewhere, from
// what its latest stage has left. Price: a connection that breaks costs the stages that ran over it.
#ifndef ATTUNE_SERVICE_QUEUE_RUNNER_HUB_H_
#define ATTUNE_SERVICE_QUEUE_RUNNER_HUB_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/identity/certificate.h"
#include "service/queue/artifact_signer.h"
#include "service/queue/connected_machines.h"
#include "service/queue/report_check.h"
#include "service/wire/checked_messages.h"
#include "service/wire/jobs.pb.h"
#include "work/driver/runners.h"

namespace attune {

// The events of runners, which the thread that schedules waits for.
//
// Thread safe.
class RunnerEvents {
 public:
  // Does not wake the waiter: what belongs to the event may be still to do.
  void Push(RunnerEvent event) {
    const std::lock_guard<std::mutex> lock(mutex_);
    events_.push_back(std::move(event));
  }
  // Makes Await() return soon, now or the next time.
  void Wake() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_woken_ = true;
    changed_.notify_all();
  }
  // Waits at most this long for events or Wake(), and returns the events that there are.
  std::vector<RunnerEvent> Await(double seconds) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                      [&] { return is_woken_ || !events_.empty(); });
    is_woken_ = false;
    return std::exchange(events_, {});
  }
  void Clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    events_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false;
  std::vector<RunnerEvent> events_;
};

// The functions of Runners are for the thread that schedules; all others are thread safe.
class RunnerHub final : public Runners {
 public:
  // Called by the thread that schedules, for a job that a runner gets.
  using Supply = std::function<absl::StatusOr<JobSupplies>(const std::string& job)>;
  // Called with jobs whose report has come too late, so that the store may have orphaned files of them, by
  // their ids and the owners of their files. Must not wait for the thread that schedules.
  using Late = std::function<void(const std::string& job, const std::string& files_owner)>;

  // `files` must outlive it. `signer` signs the artifacts of jobs; null: they stay unsigned. `late`: may be
  // null.
  RunnerHub(BlobStore& files, Supply supply, const ArtifactSigner* signer = nullptr,
            const Clock& clock = SystemClock(), Late late = nullptr)
      : check_(files, signer), supply_(std::move(supply)), late_(std::move(late)), machines_(clock) {}

  // A machine's connection, from now until Remove(). Returns its number for the other calls. One that says
  // what makes no sense (wire/checked_messages.h), or connects again, is closed with the reason, and is
  // removed.
  int64_t Add(const CertificateFacts& who, std::shared_ptr<RunnerLink> link);
  void Receive(int64_t connection, const jobs_service_proto::FromRunner& message);
  void Remove(int64_t connection);
  // Closes the connections of machines that `refusal` refuses, with its reason.
  void Close(const MemberRefusal& refusal);

  // The supplies of a job that a machine, by its certificate's id, has now; null if it has no such job.
  std::shared_ptr<const JobSupplies> SuppliesOf(const std::string& machine, const std::string& job) const;
  // Whether the machine that got these supplies still has their job.
  bool AreInUse(const std::shared_ptr<const JobSupplies>& supplies) const;
  // That machine's job fails with this error, as if it had reported that, and the machine has it no longer.
  void Fail(const std::shared_ptr<const JobSupplies>& supplies, const absl::Status& why);
  // How many runners' credentials are used in two places (SharedCredentials).
  int64_t NumShared() const;
  // Makes Await() return soon.
  void Wake() { events_.Wake(); }

  // For the thread that schedules. The machines that are there and have said what they are, if these are
  // others than at the last call.
  std::optional<std::map<int64_t, RunnerMachine>> TakeChangedMachines();
  // The machine's number among the schedule's hosts.
  void SetHost(int64_t connection, int host);
  // Ends all runners: another schedule begins, which knows no machine yet.
  void EndAll();

  absl::StatusOr<int64_t> Start(int host) override;
  void Send(int64_t runner, const RunnerCommand& command) override;
  std::vector<RunnerEvent> Await(double seconds) override { return events_.Await(seconds); }
  void End(int64_t runner) override;

 private:
  struct Runner {
    int64_t connection = 0;
    std::string job = {};                              // empty: it has none yet
    std::shared_ptr<const JobSupplies> supplies = {};  // of the job
    std::string on = {};                               // the key of the device that the job measures on
    bool runs = false;                                 // a stage, and so may report its end
  };

  void Report(int64_t connection, const jobs_service_proto::RunnerReported& reported);
  // For those who hold the mutex.
  std::map<int64_t, Runner>::const_iterator Find(const std::shared_ptr<const JobSupplies>& supplies) const;
  absl::Status Join(int64_t number, RunnerOffer offer);
  void Refuse(int64_t number, const absl::Status& why);
  void Erase(int64_t number);
  // The schedule takes their jobs away together with the host.
  void ForgetRunnersOn(int64_t connection);
  void Lose(int64_t runner, RunnerLost lost);
  void SendTo(const Runner& runner, const jobs_service_proto::ToRunner& message);
  void EndRunner(int64_t runner);

  const ReportCheck check_;
  const Supply supply_;
  const Late late_;
  RunnerEvents events_;

  mutable std::mutex mutex_;
  ConnectedMachines machines_;
  std::map<int64_t, Runner> runners_;
  int64_t last_runner_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_RUNNER_HUB_H_
