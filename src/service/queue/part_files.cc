#include "service/queue/part_files.h"

#include <string>
#include <utility>

#include "base/status.h"
#include "service/wire/job_files.h"
#include "work/job/kind.h"

namespace attune {

absl::StatusOr<std::vector<JobFile>> GatherPartFiles(const JobRecord& whole,
                                                     const std::map<size_t, JobRecord>& parts,
                                                     BlobStore& files) {
  std::vector<JobFile> gathered = whole.files;
  std::erase_if(gathered, [](const JobFile& file) { return !file.name.starts_with(kInputsFolder); });
  for (const auto& [number, part] : parts) {
    for (JobFile file : part.files) {
      if (file.name.starts_with(kInputsFolder)) continue;
      RETURN_IF_ERROR(files.Share(part.spec.base, whole.spec.base, file.digest));
      file.name.insert(0, PartFolder(part.spec.part));
      gathered.push_back(std::move(file));
    }
  }
  RETURN_IF_ERROR(CheckJobFiles(gathered));
  return gathered;
}

}  // namespace attune
