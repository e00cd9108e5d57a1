// One connection of a runner to its server, and the jobs that it has over it.
#ifndef ATTUNE_SERVICE_RUNNER_RUNNER_CONNECTION_H_
#define ATTUNE_SERVICE_RUNNER_RUNNER_CONNECTION_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/file_descriptor.h"
#include "fleet/identity/credentials.h"
#include "service/runner/job_here.h"
#include "service/wire/jobs.grpc.pb.h"
#include "work/driver/runner_messages.h"
#include "work/driver/runner_processes.h"
#include "work/job/job_spec.h"

namespace attune {

struct RunnerConnectionOptions {
  std::string folder = {};  // of the jobs' files; what earlier connections have left there is removed
  std::map<std::string, std::vector<std::string>> programs = {};  // as JobRunnerOptions has them
  Confinement confinement = Confinement::kIfPossible;             // of jobs that are no programs
};

// One thread calls Serve(), which a thread of its own hands the server's messages.
class RunnerConnection {
 public:
  RunnerConnection(const FleetCredentials& credentials, RunnerConnectionOptions options);
  ~RunnerConnection();

  // From `hello` until the connection ends, whose status it returns, or `is_stopped`. Calls `must_end` about
  // twice a second.
  absl::Status Serve(const jobs_service_proto::RunnerHello& hello, const std::atomic<bool>& is_stopped,
                     const std::function<bool()>& must_end);
  // Whether the server has answered, and whether this machine could not do its part.
  bool was_welcomed() const { return was_welcomed_; }
  bool has_failed() const { return !failed_.ok(); }

 private:
  void Read();
  void Receive(const jobs_service_proto::ToRunner& message);
  void Begin(const jobs_service_proto::StartJob& start);
  // A command for a job whose files are here.
  void Command(const std::string& job, RunnerCommand command);
  absl::Status Open(JobHere& job, AssignJob assign);
  void Handle(const RunnerEvent& event);
  void Handle(const FilesEvent& event);
  void SendLost(const std::string& job, const std::string& reason);
  // This machine is at fault, and not the job: the connection ends, so that all jobs continue on other
  // machines.
  void Fail(const std::string& job, const absl::Status& why);
  void SendReport(const std::string& job, const RunnerReport& report, const std::vector<JobFile>& files);
  void End(const std::string& job);
  // Has the thread that serves do this.
  void Post(std::function<void()> work);

  const RunnerConnectionOptions options_;
  const std::shared_ptr<JobFilesClient> client_;
  const std::unique_ptr<jobs_service_proto::Jobs::Stub> stub_;
  const FileDescriptor wake_;  // can be read when something was posted

  std::mutex mutex_;
  std::deque<std::function<void()>> posted_;

  // For the thread that serves.
  bool is_over_ = false, was_welcomed_ = false;
  absl::Status failed_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientReaderWriter<jobs_service_proto::FromRunner, jobs_service_proto::ToRunner>>
      stream_;
  RunnerProcesses processes_;
  std::map<std::string, std::unique_ptr<JobHere>> jobs_;  // by id
  std::map<int64_t, std::string> job_of_process_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_RUNNER_RUNNER_CONNECTION_H_
