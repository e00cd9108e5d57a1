#include "service/runner/kept_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/input_file.h"
#include "base/sha256.h"
#include "base/status.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// The files of SQLite beside a database: one is made by each process, and the other is empty once everything
// is in the database itself.
constexpr std::string_view kSharedMemory = "-shm", kLog = "-wal";

// The steps of file systems' times, at most, in milliseconds.
constexpr int64_t kTickMillis = 50;

}  // namespace

absl::StatusOr<std::vector<JobFile>> KeptFiles::Look() {
  std::map<std::string, Seen> seen;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().lexically_relative(folder_).string();
    if (!entry->is_regular_file(error) || entry->is_symlink(error) || name.starts_with(kInputsFolder) ||
        name.ends_with(kSharedMemory))
      continue;
    RETURN_IF_ERROR(CheckJobFileName(name));
    ASSIGN_OR_RETURN(const InputFile file, OpenInputFile(entry->path().string()));
    if (name.ends_with(kLog) && file.bytes == 0) continue;
    struct stat facts = {};
    fstat(file.descriptor.get(), &facts);
    const std::pair<int64_t, int64_t> time = {facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec};
    const auto before = seen_.find(name);
    if (before != seen_.end() && before->second.time == time && before->second.file.bytes == file.bytes) {
      seen.insert(*before);
      continue;
    }
    ASSIGN_OR_RETURN(std::string digest, Sha256OfFile(file));
    // A file that was written just now may change again without another time.
    const bool is_settled =
        SystemClock().WallMillis() - (1000 * time.first + time.second / 1'000'000) > kTickMillis;
    seen[name] = {is_settled ? time : std::pair<int64_t, int64_t>(), {name, std::move(digest), file.bytes}};
  }
  if (error) return absl::UnavailableError(absl::StrCat(folder_, ": cannot be read: ", error.message()));
  seen_ = std::move(seen);
  std::vector<JobFile> files;
  for (const auto& [name, file] : seen_) files.push_back(file.file);
  RETURN_IF_ERROR(CheckJobFiles(files));
  return files;
}

}  // namespace attune
