#include "service/models/model_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace attune {

absl::Status CopyTo(const FileDescriptor& from, int64_t bytes, const std::string& path) {
  constexpr mode_t kOurs = 0600;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const FileDescriptor to(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOurs));
  off64_t offset = 0;
  while (to.get() >= 0 && offset < bytes) {
    const ssize_t copied =
        copy_file_range(from.get(), &offset, to.get(), nullptr, static_cast<size_t>(bytes - offset), 0);
    if (copied < 0 && errno == EINTR) continue;
    if (copied <= 0) break;
  }
  if (to.get() >= 0 && offset == bytes) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
}

}  // namespace attune
