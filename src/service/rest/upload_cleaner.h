// Removes uploads that nobody needs any more.
#ifndef ATTUNE_SERVICE_REST_UPLOAD_CLEANER_H_
#define ATTUNE_SERVICE_REST_UPLOAD_CLEANER_H_

#include "absl/status/status.h"
#include "base/background_loop.h"
#include "service/models/models.h"
#include "service/rest/uploads.h"

namespace attune {

// The arguments must outlive it.
class UploadCleaner {
 public:
  UploadCleaner(Uploads& uploads, Models& models) : uploads_(uploads), models_(models) {}

  // From now on, every few minutes. Fails if the system has no thread to give.
  absl::Status Begin() { return loop_.Start(); }
  void Stop() { loop_.Stop(); }
  // Once, as Uploads::RemoveResting(); files of models are needed.
  absl::Status Look();

 private:
  double Step();

  Uploads& uploads_;
  Models& models_;
  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_UPLOAD_CLEANER_H_
