// Remembers that a submission was begun, so that the same command resumes it.
//
// Problem: a cut may hide whether the server has taken a job, and the same command again must not submit it
// twice, while one that is given again after it has succeeded should. Idea: a key that the server knows jobs
// by is kept in a file, named after the server and the jobs' names, until the server has taken everything;
// the key of one job also has a digest of all that the job is, so that one that was put right is another one.
// Price: a file for a moment; of two equal commands at once, the first one holds the file, and the other one
// goes its own way.
#ifndef ATTUNE_SERVICE_CLIENT_PENDING_SUBMISSION_H_
#define ATTUNE_SERVICE_CLIENT_PENDING_SUBMISSION_H_

#include <functional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

class PendingSubmission {
 public:
  // `name`: any text. `folder` is made. A file that is older than a week counts no more, as its key does for
  // the server.
  static absl::StatusOr<PendingSubmission> Begin(const std::string& folder, const std::string& name);
  // $ATTUNE_SUBMISSIONS, else attune/submissions in $XDG_STATE_HOME, else in ~/.local/state.
  static absl::StatusOr<std::string> DefaultFolder(
      const std::function<const char*(const char*)>& environment);

  // The key of one of its jobs, which is all that `content` says.
  std::string KeyOf(const std::string& content) const;
  // Whether an earlier command had begun it.
  bool is_repeated() const { return is_repeated_; }
  // The server has taken it all: the same again is another one.
  void Forget();

 private:
  PendingSubmission(std::string path, FileDescriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;     // empty: another command holds it
  FileDescriptor file_;  // locked
  std::string key_;
  bool is_repeated_ = false;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_PENDING_SUBMISSION_H_
