// Removes uploads that nobody needs any more.
#ifndef ATTUNE_SERVICE_UPLOADS_UPLOAD_CLEANER_H_
#define ATTUNE_SERVICE_UPLOADS_UPLOAD_CLEANER_H_

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "service/uploads/uploads.h"

namespace attune {

// The uploads must outlive it.
class UploadCleaner {
 public:
  UploadCleaner(Uploads& uploads, Uploads::Needed needed) : uploads_(uploads), needed_(std::move(needed)) {}
  ~UploadCleaner() { Stop(); }
  UploadCleaner(const UploadCleaner&) = delete;
  UploadCleaner& operator=(const UploadCleaner&) = delete;

  // From now on, every few minutes. Fails if the system has no thread to give.
  absl::Status Begin();
  void Stop();
  // Once, as Uploads::RemoveResting().
  absl::Status Look();

 private:
  void Run();

  Uploads& uploads_;
  const Uploads::Needed needed_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_UPLOADS_UPLOAD_CLEANER_H_
