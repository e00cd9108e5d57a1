// How a runner gets and sends the files of the jobs that it has.
#ifndef ATTUNE_SERVICE_RUNNER_JOB_FILES_CLIENT_H_
#define ATTUNE_SERVICE_RUNNER_JOB_FILES_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/progress.h"
#include "fleet/client/fleet_client.h"
#include "fleet/identity/credentials.h"
#include "service/client/arriving_file.h"
#include "service/client/sent_file.h"
#include "service/wire/jobs.grpc.pb.h"
#include "work/job/job_spec.h"

namespace attune {

// Thread safe. Calls fail with Unavailable, and the server's address, if the server does not answer in time.
class JobFilesClient {
 public:
  explicit JobFilesClient(const FleetCredentials& credentials) : fleet_(credentials) {}

  // Replaces the file at `path` by the job's file once all of it has come and has its digest; otherwise the
  // path stays as it is. Resumes where the connection broke. DataLoss if the content is another one.
  absl::Status ReadFile(const std::string& job, const JobFile& file, const std::string& path,
                        const WorkControl& control = {});
  // Sends one of its files, as far as it differs from what the server has had of it before. Returns what it
  // has now.
  absl::StatusOr<SentFile> WriteFile(const std::string& job, const JobFile& file, const std::string& path,
                                     const SentFile& before, const WorkControl& control = {});

  // For other calls, on the connection of this client.
  std::unique_ptr<jobs_service_proto::Jobs::Stub> stub();

 private:
  // One attempt, from where the last one has ended.
  absl::Status Continue(const std::string& job, const std::string& name, ArrivingFile& file,
                        const WorkControl& control);

  FleetClient fleet_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_RUNNER_JOB_FILES_CLIENT_H_
