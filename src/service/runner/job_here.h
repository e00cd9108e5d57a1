// One job on a runner's machine: its folder, and a thread that moves its files.
#ifndef ATTUNE_SERVICE_RUNNER_JOB_HERE_H_
#define ATTUNE_SERVICE_RUNNER_JOB_HERE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/background_loop.h"
#include "base/cancel.h"
#include "service/client/sent_file.h"
#include "service/runner/job_files_client.h"
#include "service/runner/kept_files.h"
#include "work/driver/runner_messages.h"

namespace attune {

// The thread of a job has moved files. Without a report: the files are here; with one: those that the stage
// has changed are with the server.
struct FilesEvent {
  std::string job;
  absl::StatusOr<std::vector<JobFile>> files;
  std::optional<RunnerStageEnded> report;
  // Whether an error is the fault of the job, or of its data on the server, so that this machine can run
  // others.
  bool is_jobs_fault = false;
};

// For one thread. The destructor gives up what moves, and removes the folder.
class JobHere {
 public:
  // Begins to fetch the files into the folder, which is made, and emptied before. Calls `done` from its own
  // thread. Fails if the system has no thread to give.
  static absl::StatusOr<std::unique_ptr<JobHere>> Begin(std::string id, std::string folder,
                                                        std::vector<JobFile> files,
                                                        std::shared_ptr<JobFilesClient> client,
                                                        std::function<void(FilesEvent)> done);
  ~JobHere();

  // Sends the files that have changed. Nothing may run in the folder until that is done.
  void Keep(RunnerStageEnded report);

  const std::string& id() const { return id_; }
  const std::string& folder() const { return folder_; }

  std::string credentials;             // to measure with
  bool is_ready = false;               // the files are here
  std::vector<RunnerCommand> waiting;  // commands that came before
  int64_t process = 0;                 // 0: none yet

 private:
  JobHere(std::string id, std::string folder, std::vector<JobFile> files,
          std::shared_ptr<JobFilesClient> client, std::function<void(FilesEvent)> done);

  // Fetches the files, and later sends those of the next stage that waits for that.
  double Step();
  absl::StatusOr<std::vector<JobFile>> Fetch();
  absl::StatusOr<std::vector<JobFile>> Send(const std::vector<JobFile>& files);

  const std::string id_, folder_;
  const std::vector<JobFile> files_;  // at the start
  const std::shared_ptr<JobFilesClient> client_;
  const std::function<void(FilesEvent)> done_;
  KeptFiles kept_;
  std::set<std::string> sent_;               // the digests that the server has
  std::map<std::string, SentFile> content_;  // what it has of each file, by name

  Cancellation cancellation_;
  std::mutex mutex_;
  std::deque<RunnerStageEnded> reports_;  // of stages whose files are to be sent
  bool has_fetched_ = false;              // for the thread
  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_RUNNER_JOB_HERE_H_
