// A client of a server that runs jobs, by REST.
#ifndef ATTUNE_SERVICE_CLIENT_JOBS_CLIENT_H_
#define ATTUNE_SERVICE_CLIENT_JOBS_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/progress.h"
#include "service/client/known_servers.h"
#include "service/client/pending_submission.h"
#include "service/client/remote_job.h"
#include "service/client/rest_client.h"
#include "service/client/submission.h"

namespace attune {

// Thread safe. Errors are those of RestClient.
class JobsClient {
 public:
  static absl::StatusOr<std::unique_ptr<JobsClient>> Open(const KnownServer& server,
                                                          const RestClientOptions& options = {});

  // Sends the files that the server lacks. Resumes after the connection has broken. FailedPrecondition if a
  // file has changed since it was read.
  absl::Status SendFiles(const PreparedSubmission& submission, const WorkControl& control = {});
  // Submits the jobs, whose files the server has, one after the other, each once however often this is called
  // with the same pending submission. The jobs before a refused one are kept; if there are none, nothing was
  // submitted, and `pending` is forgotten.
  absl::StatusOr<std::vector<RemoteJob>> Submit(const PreparedSubmission& submission,
                                                PendingSubmission& pending);
  // Returns at most `most` jobs, the latest first. `state`: one of a job's, or "unfinished"; empty: any.
  absl::StatusOr<std::vector<RemoteJob>> List(const std::string& state, int64_t most);
  absl::StatusOr<RemoteJobDetail> Show(const std::string& id);
  absl::StatusOr<RemoteJob> Cancel(const std::string& id);
  // Tells of the job, at once and whenever it changes, until it is over or `handle` returns false. Waits for
  // a server that is away.
  absl::Status Follow(const std::string& id,
                      const std::function<absl::StatusOr<bool>(const RemoteJob& job)>& handle);
  // Replaces the file at `path` by the job's file once all of it has come and has its digest; otherwise the
  // path stays as it is. Resumes where the connection broke. DataLoss if the content is another one.
  absl::Status Download(const std::string& job, const RemoteFile& file, const std::string& path,
                        const WorkControl& control = {});
  // Asks the server for its predictions for a job of a submission. The server must have the files.
  absl::StatusOr<nlohmann::ordered_json> Predict(const nlohmann::ordered_json& job);

 private:
  explicit JobsClient(std::unique_ptr<RestClient> server) : server_(std::move(server)) {}

  absl::Status SendFile(const std::string& digest, const SourceFile& source,
                        const std::function<absl::Status(int64_t bytes)>& follow);
  // Unavailable also if the upload is not where the piece begins.
  absl::Status SendPiece(const std::string& digest, int64_t offset, const std::string& piece);

  const std::unique_ptr<RestClient> server_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_JOBS_CLIENT_H_
