#include "service/queue/report_check.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "base/status.h"
#include "service/queue/built_artifact.h"
#include "service/wire/checked_messages.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

// A job has no device for itself but its own.
absl::Status CheckNeeds(const std::string& on, const RunnerStageEnded& ended) {
  if (!ended.next.has_value()) return absl::OkStatus();
  for (const ResourceNeed& need : ended.next->needs) {
    // A job that measures on a remote device gets the device that it was submitted for, whatever name its
    // stage uses.
    const bool is_its_own = need.key == kProcessorsKey || !on.empty();
    if (need.exclusive && !is_its_own)
      return InvalidInput("the next stage wants \"", Printable(need.key),
                          "\" for itself, and the job measures on no device");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReportCheck::Complete(const JobSupplies& supplies, const std::string& on,
                                   const std::vector<JobFile>& made, RunnerStageEnded& ended) const {
  if (!ended.status.ok()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckMade(ended));
  RETURN_IF_ERROR(CheckNeeds(on, ended));
  std::vector<JobFile> files;
  std::ranges::copy_if(supplies.files, std::back_inserter(files),
                       [](const JobFile& file) { return file.name.starts_with(kInputsFolder); });
  files.insert(files.end(), made.begin(), made.end());
  RETURN_IF_ERROR(CheckJobFiles(files));
  for (const JobFile& file : made) {
    const auto blob = files_.Read(supplies.files_owner, file.digest);
    if (!blob.ok() || blob->second != file.bytes)
      return InvalidInput(file.name, ": the runner has not sent it");
  }
  // Not earlier: the runner would not know the files again.
  if (!ended.next.has_value()) RETURN_IF_ERROR(TakeArtifact(supplies, ended.result, files));
  ended.files = std::move(files);
  return absl::OkStatus();
}

absl::Status ReportCheck::TakeArtifact(const JobSupplies& supplies, const std::string& result,
                                       std::vector<JobFile>& files) const {
  RETURN_IF_ERROR(CheckBuiltArtifact(supplies.spec, files, result, supplies.files_owner, files_));
  const std::optional<std::string> name = ArtifactNameOf(supplies.spec);
  if (signer_ == nullptr || !name) return absl::OkStatus();
  return signer_->SignFile(supplies.spec.owner, *name, supplies.files_owner, files_, files);
}

}  // namespace attune
