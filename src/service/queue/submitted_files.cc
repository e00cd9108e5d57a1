#include "service/queue/submitted_files.h"

#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"

namespace attune {

absl::Status SubmittedFiles::TakeAll(const std::string& owner, const std::vector<JobRecord>& jobs,
                                     BlobStore& sent) {
  std::map<std::string, std::string> having;  // by digest: a job of this submission that has the file
  for (const JobRecord& job : jobs) {
    for (const JobFile& file : job.files) {
      const auto [other, is_first] = having.try_emplace(file.digest, job.spec.base);
      if (is_first) {
        RETURN_IF_ERROR(Take(owner, job, file, sent));
      } else {
        RETURN_IF_ERROR(files_.Share(other->second, job.spec.base, file.digest));
      }
    }
  }
  return absl::OkStatus();
}

// An upload may be evicted, and a job's files may not.
absl::Status SubmittedFiles::Take(const std::string& owner, const JobRecord& job, const JobFile& file,
                                  BlobStore& sent) {
  const std::string name = absl::StrCat(job.spec.id, ": ", file.name);
  if (files_.Has(job.spec.base, file.digest)) return absl::OkStatus();
  RETURN_IF_ERROR(Annotate(files_.Take(sent, owner, job.spec.base, file.digest), name));
  ASSIGN_OR_RETURN(const int64_t bytes, files_.Sent(job.spec.base, file.digest));
  if (bytes == file.bytes) return absl::OkStatus();
  return InvalidInput(name, ": has ", bytes, " bytes, and not ", file.bytes);
}

absl::Status SubmittedFiles::Add(const std::string& base, const std::string& digest, std::string_view text) {
  if (files_.Has(base, digest)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t sent, files_.Sent(base, digest));
  RETURN_IF_ERROR(files_.Append(base, digest, sent, text.substr(static_cast<size_t>(sent))));
  return files_.Finish(base, digest);
}

void SubmittedFiles::ForgetAll(const std::vector<JobRecord>& jobs) {
  for (const JobRecord& job : jobs) {
    for (const JobFile& file : job.files) {
      const absl::Status forgotten = files_.Forget(job.spec.base, file.digest);
      if (!forgotten.ok()) Log(LogLevel::kWarning, "an input stays", "reason", forgotten.message());
    }
  }
}

}  // namespace attune
