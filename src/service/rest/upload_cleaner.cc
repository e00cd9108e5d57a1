#include "service/rest/upload_cleaner.h"

#include <set>
#include <string>

#include "base/log.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr double kPauseSeconds = 600;

// Digests of all files that the tenant's models consist of.
absl::StatusOr<std::set<std::string>> FilesOfModels(Models& models, const std::string& tenant) {
  ASSIGN_OR_RETURN(const auto known, models.List(tenant, {}, kMostModels));
  std::set<std::string> digests;
  for (const KnownModel& model : known)
    for (const auto& file : model.source.files) digests.insert(file.digest);
  return digests;
}

}  // namespace

absl::Status UploadCleaner::Look() {
  return uploads_.RemoveResting([this](const std::string& tenant) { return FilesOfModels(models_, tenant); });
}

double UploadCleaner::Step() {
  const absl::Status looked = Look();
  if (!looked.ok()) Log(LogLevel::kWarning, "uploads that rest stay", "reason", looked.message());
  return kPauseSeconds;
}

}  // namespace attune
