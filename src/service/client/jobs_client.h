// A client of a server that runs jobs.
#ifndef ATTUNE_SERVICE_CLIENT_JOBS_CLIENT_H_
#define ATTUNE_SERVICE_CLIENT_JOBS_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/progress.h"
#include "fleet/client/fleet_client.h"
#include "fleet/identity/credentials.h"
#include "service/client/sent_file.h"
#include "service/client/submission.h"
#include "service/wire/jobs.grpc.pb.h"

namespace attune {

struct JobsClientOptions {
  int tries = 8;  // of a long call while the server does not answer, without getting further
};

// Thread safe. Calls fail with Unavailable, and the server's address, if the server does not answer in time.
class JobsClient {
 public:
  explicit JobsClient(const FleetCredentials& credentials, const JobsClientOptions& options = {});

  // Sends the files that the server lacks, then submits the jobs, all or none. Goes on after the connection
  // has broken; the jobs are taken once. FailedPrecondition if a file has changed since it was read.
  absl::StatusOr<std::vector<jobs_service_proto::Job>> Submit(const PreparedSubmission& submission,
                                                              const WorkControl& control = {});
  // The latest first, as many as the server gives.
  absl::StatusOr<std::vector<jobs_service_proto::Job>> List(bool unfinished_alone);
  absl::StatusOr<jobs_service_proto::JobDetail> Show(const std::string& id);
  absl::StatusOr<jobs_service_proto::Job> Cancel(const std::string& id);
  // Replaces the file at `path` by the job's file once all of it has come and has its digest; otherwise the
  // path stays as it is. Goes on where the connection broke. DataLoss if the content is another one.
  absl::Status ReadFile(const std::string& job, const jobs_service_proto::JobFile& file,
                        const std::string& path, const WorkControl& control = {});
  // From the runner that has the job: sends one of its files, as far as it differs from what the server has
  // had of it before. Returns what it has now.
  absl::StatusOr<SentFile> WriteFile(const std::string& job, const jobs_service_proto::JobFile& file,
                                     const std::string& path, const SentFile& before,
                                     const WorkControl& control = {});

  // For other calls, on the connection of this client.
  std::unique_ptr<jobs_service_proto::Jobs::Stub> stub();

 private:
  class Download;

  template <typename Request, typename Answer>
  using Method = grpc::Status (jobs_service_proto::Jobs::Stub::*)(grpc::ClientContext*, const Request&,
                                                                  Answer*);
  template <typename Request, typename Answer>
  absl::StatusOr<Answer> Call(Method<Request, Answer> method, const Request& request);

  // Repeats the attempt while the server does not answer. Gives up when `position`, which an attempt moves
  // forward, has not moved during options.tries attempts.
  absl::Status Insist(const int64_t& position, const std::function<absl::Status()>& attempt) const;
  absl::Status SendFile(const std::string& digest, const SourceFile& source,
                        const FleetClient::Follow& follow);
  // One attempt, from where the last one has ended.
  absl::Status Continue(Download& download, const WorkControl& control);

  const JobsClientOptions options_;
  FleetClient fleet_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_JOBS_CLIENT_H_
