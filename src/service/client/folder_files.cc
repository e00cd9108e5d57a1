#include "service/client/folder_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/status.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// Both paths have no links.
bool IsBelow(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// The file that a link of the folder leads to.
absl::StatusOr<fs::path> TargetOf(const fs::path& link, const fs::path& folder) {
  std::error_code error;
  fs::path target = fs::canonical(link, error);
  if (error) return InvalidInput(link.string(), ": is a link to nowhere: ", error.message());
  if (!IsBelow(target, folder))
    return InvalidInput(link.string(), ": is a link that leads out of the folder; copy the file there");
  if (!fs::is_regular_file(target, error))
    return InvalidInput(link.string(), ": is a link to something that is not a file");
  return target;
}

}  // namespace

absl::StatusOr<std::vector<FolderFile>> FilesOfFolder(const std::string& folder) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  std::vector<FolderFile> files;
  fs::recursive_directory_iterator entries(root, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    const fs::path& path = entries->path();
    const fs::file_status status = entries->symlink_status(error);
    if (error) break;
    if (fs::is_directory(status)) continue;
    if (files.size() == kMostJobFiles)
      return InvalidInput(folder, ": holds more than ", kMostJobFiles,
                          " files, the most that a job may have");
    FolderFile file = {.name = path.lexically_relative(root).generic_string(), .path = path.string()};
    if (fs::is_symlink(status)) {
      ASSIGN_OR_RETURN(const fs::path target, TargetOf(path, root));
      file.path = target.string();
    } else if (!fs::is_regular_file(status)) {
      return InvalidInput(path.string(), ": is neither a file nor a folder");
    }
    files.push_back(std::move(file));
  }
  if (error) return InvalidInput(folder, ": cannot list the folder: ", error.message());
  std::ranges::sort(files, {}, &FolderFile::name);
  return files;
}

}  // namespace attune
