#include "service/queue/job_file_cleaner.h"

#include <set>

#include "base/log.h"

namespace attune {

void JobFileCleaner::ForgetAllBut(const std::vector<JobFile>& files, const std::string& files_owner) {
  std::set<std::string> digests;
  for (const JobFile& file : files) digests.insert(file.digest);
  const absl::Status forgotten = files_.ForgetAllBut(files_owner, digests);
  if (!forgotten.ok()) Log(LogLevel::kWarning, "old files stay", "reason", forgotten.message());
  sent_.Forget(files_owner);
}

void JobFileCleaner::ForgetLate(const std::string& job, const std::string& files_owner) {
  const absl::Status queued =
      queue_.Post([this, job, files_owner](const absl::StatusOr<LiveSchedule*>& schedule) {
        if (!schedule.ok()) return;
        const auto found = (*schedule)->view().Find({.id = job});
        if (!found.ok() && !absl::IsNotFound(found.status())) return;
        const bool is_there = found.ok() && found->second.spec.base == files_owner;
        // If the job continues, another runner may be sending files, and the row changes in any case.
        if (is_there && found->second.state == JobState::kUnfinished) return;
        ForgetAllBut(is_there ? found->second.files : std::vector<JobFile>(), files_owner);
      });
  if (!queued.ok()) Log(LogLevel::kWarning, "late files stay", "job", job, "reason", queued.message());
}

}  // namespace attune
