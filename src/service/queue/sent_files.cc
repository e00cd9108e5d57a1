#include "service/queue/sent_files.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "fleet/blobs/blob_store.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

constexpr double kLookSeconds = 60;
constexpr size_t kMaxKnown = 10'000;  // owners

}  // namespace

absl::Status SentFiles::Admit(const std::string& owner, const std::string& files_owner,
                              const std::string& digest, int64_t bytes) {
  if (bytes > BlobStoreOptions().most_blob_bytes)
    return absl::ResourceExhaustedError(absl::StrCat("a file of a job may have ",
                                                     BlobStoreOptions().most_blob_bytes,
                                                     " bytes, and its runner has sent a larger one"));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Job& job = jobs_[files_owner];
    job.owner = owner;
    const auto [file, is_new] = job.files.try_emplace(digest, 0);
    if (is_new && std::ssize(job.files) > kMostJobFiles) {
      job.files.erase(file);
      return absl::ResourceExhaustedError(absl::StrCat(
          "a job may have ", kMostJobFiles, " files, and its runner has sent more before a stage has ended"));
    }
    // A file that is sent again begins anew.
    const int64_t more = bytes - file->second;
    file->second = bytes;
    job.bytes += more;
    if (quota_ == nullptr) return absl::OkStatus();
    if (uses_.size() >= kMaxKnown && !uses_.contains(owner)) uses_.clear();
    Use& use = uses_[owner];
    use.stored_bytes += std::max<int64_t>(more, 0);
    if (use.stored_bytes <= use.quota_bytes && clock_.Now() < use.looked_at + kLookSeconds)
      return absl::OkStatus();
    use.looked_at = clock_.Now();  // others need not look, too
  }
  const absl::Status fits = Look(owner);
  if (!fits.ok()) Withdraw(files_owner, digest);
  return fits;
}

absl::Status SentFiles::Look(const std::string& owner) {
  const absl::StatusOr<StorageShare> share = quota_(owner);
  const absl::StatusOr<int64_t> named = named_(owner);
  const std::lock_guard<std::mutex> lock(mutex_);
  Use& use = uses_[owner];
  if (share.ok() && named.ok()) {
    // Counted after the rows: a file whose row was read is no sent one any more.
    int64_t sent = 0;
    for (const auto& [files_owner, job] : jobs_) sent += job.owner == owner ? job.bytes : 0;
    use = {.is_known = true,
           .quota_bytes = share->quota_bytes,
           .stored_bytes = share->other_bytes + *named + sent,
           .looked_at = clock_.Now()};
  } else if (!use.is_known) {
    return absl::UnavailableError((share.ok() ? named.status() : share.status()).message());
  }
  if (use.stored_bytes <= use.quota_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "tenant ", owner, " may store ", use.quota_bytes, " bytes, and would have ", use.stored_bytes,
      " with what its jobs send; delete uploads, or ask the administrator for more"));
}

void SentFiles::Withdraw(const std::string& files_owner, const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto job = jobs_.find(files_owner);
  if (job == jobs_.end()) return;
  const auto file = job->second.files.find(digest);
  if (file == job->second.files.end()) return;
  job->second.bytes -= file->second;
  job->second.files.erase(file);
}

void SentFiles::Forget(const std::string& files_owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  jobs_.erase(files_owner);
}

}  // namespace attune
