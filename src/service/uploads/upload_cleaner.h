// Removes unused uploads.
#ifndef ATTUNE_SERVICE_UPLOADS_UPLOAD_CLEANER_H_
#define ATTUNE_SERVICE_UPLOADS_UPLOAD_CLEANER_H_

#include <utility>

#include "absl/status/status.h"
#include "base/background_loop.h"
#include "service/uploads/uploads.h"

namespace attune {

// The uploads must outlive it.
class UploadCleaner {
 public:
  UploadCleaner(Uploads& uploads, Uploads::Needed needed) : uploads_(uploads), needed_(std::move(needed)) {}

  // From now on, every few minutes. Fails if the system has no thread to give.
  absl::Status Begin() { return loop_.Start(); }
  void Stop() { loop_.Stop(); }
  // Once, as Uploads::RemoveResting().
  absl::Status Look();

 private:
  double Step();

  Uploads& uploads_;
  const Uploads::Needed needed_;
  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_UPLOADS_UPLOAD_CLEANER_H_
