// Holds runners to what they may send of a job's files before a report names them.
//
// Problem: a report alone says which files a job has. Until it comes, a runner could send any number of files
// of any size. Idea: files are counted as they come, until the job's row changes and all others that it does
// not name are forgotten. Their bytes must fit into the rest of the owner's quota, which is looked at again
// once a minute, and whenever it seems to be used up. Price: uploads count up to a minute late, and a file
// that replaces another one needs room beside it.
#ifndef ATTUNE_SERVICE_QUEUE_SENT_FILES_H_
#define ATTUNE_SERVICE_QUEUE_SENT_FILES_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"

namespace attune {

// The room that an owner has for the files of jobs.
struct StorageShare {
  int64_t quota_bytes = INT64_MAX;  // for everything
  int64_t other_bytes = 0;          // that are stored besides the files of jobs
};
using StorageQuota = std::function<absl::StatusOr<StorageShare>(const std::string& owner)>;

// Thread safe. The clock must outlive it.
class SentFiles {
 public:
  // The bytes of all files that the owner's jobs have by their rows.
  using Named = std::function<absl::StatusOr<int64_t>(const std::string& owner)>;

  // The caller of Admit() calls both. `quota`: null: there are no quotas.
  SentFiles(StorageQuota quota, Named named, const Clock& clock = SystemClock())
      : quota_(std::move(quota)), named_(std::move(named)), clock_(clock) {}

  // Counts a file that comes for a job of this owner, whose files have the owner `files_owner`. `bytes`: of
  // the file, with those that come next. ResourceExhausted, with a sentence for people, if they exceed the
  // owner's quota, or if the file is too large, or too many have come for the job. Unavailable if the quota
  // was never known; what was known counts until it can be told again.
  absl::Status Admit(const std::string& owner, const std::string& files_owner, const std::string& digest,
                     int64_t bytes);
  // Begins anew for the job, whose row has changed.
  void Forget(const std::string& files_owner);

 private:
  struct Job {
    std::string owner = {};
    std::map<std::string, int64_t> files = {};  // the bytes by digest
    int64_t bytes = 0;                          // of all
  };
  // The files of one owner.
  struct Use {
    bool is_known = false;
    int64_t quota_bytes = 0, stored_bytes = 0;
    double looked_at = -INFINITY;
  };

  // Asks for what the owner has, and fails if it is too much.
  absl::Status Look(const std::string& owner);
  void Withdraw(const std::string& files_owner, const std::string& digest);

  const StorageQuota quota_;
  const Named named_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Job> jobs_;  // by the owner of the files
  std::map<std::string, Use> uses_;  // by owner
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_SENT_FILES_H_
