// The runners of a server: processes on machines that have connected to it.
//
// Problem: machines come and go while jobs run on them, and what is said to one that is gone is lost. Idea: a
// machine is a host of the schedule as long as its connection lasts. With the connection end all processes
// that it had, on both sides, so that a job is never in two places; the schedule opens it elsewhere, from
// what its latest stage has left. Price: a connection that breaks costs the stages that ran over it.
#ifndef ATTUNE_SERVICE_QUEUE_RUNNER_HUB_H_
#define ATTUNE_SERVICE_QUEUE_RUNNER_HUB_H_

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
#include "fleet/serving/link.h"
#include "fleet/serving/shared_credentials.h"
#include "service/queue/artifact_signer.h"
#include "service/wire/checked_messages.h"
#include "service/wire/jobs.pb.h"
#include "work/driver/local_host.h"
#include "work/driver/runners.h"
#include "work/job/job_spec.h"

namespace attune {

using RunnerLink = Link<jobs_service_proto::ToRunner>;

// The slots that a machine's host has for its owner, whose jobs it takes, and for the programs that its
// operator has listed, which are not confined and so are its owner's alone. A machine of the server's takes
// the jobs of all owners if it keeps them from each other's files.
std::string OwnerSlot(const std::string& owner);
std::string ProgramSlot(const std::string& owner, const std::string& program);

// A machine that has connected.
struct RunnerMachine {
  int64_t connection = 0;
  std::string id;  // as in its certificate
  std::string owner;
  LocalHost host;  // with the slots above
};

// A process on a machine needs these before its job can be opened.
struct JobSupplies {
  JobSpec spec = {};
  std::vector<JobFile> files = {};
  std::string files_owner = {};  // by which the store of job files has them
  std::string credentials = {};  // fleet/identity/credentials.h
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
      : files_(files), supply_(std::move(supply)), signer_(signer), clock_(clock), late_(std::move(late)) {}

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
  void Wake();

  // For the thread that schedules. The machines that are there and have said what they are, if these are
  // others than at the last call.
  std::optional<std::map<int64_t, RunnerMachine>> TakeChangedMachines();
  // The machine's number among the schedule's hosts.
  void SetHost(int64_t connection, int host);
  // Ends all runners: another schedule begins, which knows no machine yet.
  void EndAll();

  absl::StatusOr<int64_t> Start(int host) override;
  void Send(int64_t runner, const RunnerCommand& command) override;
  std::vector<RunnerEvent> Await(double seconds) override;
  void End(int64_t runner) override;

 private:
  struct Connection {
    CertificateFacts who;
    std::shared_ptr<RunnerLink> link;
    bool is_there = false;  // it has said what it is
    RunnerMachine machine = {};
    int host = -1;
    std::map<std::string, int64_t> runners = {};  // by job
  };
  struct Runner {
    int64_t connection = 0;
    std::string job = {};                              // empty: it has none yet
    std::shared_ptr<const JobSupplies> supplies = {};  // of the job
    std::string on = {};                               // the key of the device that the job measures on
    bool runs = false;                                 // a stage, and so may report its end
  };

  void Report(int64_t connection, const jobs_service_proto::RunnerReported& reported);
  // Gives the report all files of the job, the artifact signed at its end. Fails if the job has made what
  // cannot be kept, if the store lacks a file, or if the artifact is not the one that was built.
  absl::Status TakeMade(const Runner& runner, const jobs_service_proto::RunnerReported& reported,
                        RunnerStageEnded& ended) const;
  // A job has no device for itself but its own.
  static absl::Status CheckNeeds(const Runner& runner, const RunnerStageEnded& ended);
  // Checks the artifact among the files that a job has left, and signs it for the job's owner.
  absl::Status TakeArtifact(const JobSupplies& supplies, const std::string& result,
                            std::vector<JobFile>& files) const;

  // For those who hold the mutex.
  std::map<int64_t, Runner>::const_iterator Find(const std::shared_ptr<const JobSupplies>& supplies) const;
  absl::Status Join(int64_t number, Connection& connection, RunnerOffer offer);
  // Ends the runner's other connection, if there is one.
  void Replace(int64_t number, const Connection& connection);
  void Refuse(int64_t number, const absl::Status& why);
  void Erase(int64_t number);
  void Lose(int64_t runner, RunnerLost lost);
  void SendTo(const Runner& runner, const jobs_service_proto::ToRunner& message);
  void EndRunner(int64_t runner);

  BlobStore& files_;
  const Supply supply_;
  const ArtifactSigner* const signer_;
  const Clock& clock_;
  const Late late_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false, have_machines_changed_ = true;
  std::map<int64_t, Connection> connections_;
  std::map<int64_t, Runner> runners_;
  std::vector<RunnerEvent> events_;
  int64_t last_connection_ = 0, last_runner_ = 0;
  SharedCredentials shared_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_RUNNER_HUB_H_
