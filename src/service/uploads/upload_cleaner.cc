#include "service/uploads/upload_cleaner.h"

#include "base/log.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr double kPauseSeconds = 600;

}  // namespace

absl::Status UploadCleaner::Look() { return uploads_.RemoveResting(needed_); }

double UploadCleaner::Step() {
  const absl::Status looked = Look();
  if (!looked.ok()) Log(LogLevel::kWarning, "unused uploads stay", "reason", looked.message());
  return kPauseSeconds;
}

}  // namespace attune
