// Removes uploads that nobody needs any more.
#ifndef ATTUNE_SERVICE_REST_UPLOAD_CLEANER_H_
#define ATTUNE_SERVICE_REST_UPLOAD_CLEANER_H_

#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "service/models/models.h"
#include "service/rest/uploads.h"

namespace attune {

// The arguments must outlive it.
class UploadCleaner {
 public:
  UploadCleaner(Uploads& uploads, Models& models) : uploads_(uploads), models_(models) {}
  ~UploadCleaner() { Stop(); }
  UploadCleaner(const UploadCleaner&) = delete;
  UploadCleaner& operator=(const UploadCleaner&) = delete;

  // From now on, every few minutes. Fails if the system has no thread to give.
  absl::Status Begin();
  void Stop();
  // Once, as Uploads::RemoveResting(); files of models are needed.
  absl::Status Look();

 private:
  void Run();

  Uploads& uploads_;
  Models& models_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_UPLOAD_CLEANER_H_
