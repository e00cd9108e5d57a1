#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int kRead = O_RDONLY | O_CLOEXEC | O_NOCTTY;

std::string_view KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// The parts of a relative path that stays inside its folder.
absl::StatusOr<std::vector<std::string>> SplitPath(const std::string& location) {
  std::vector<std::string> parts = absl::StrSplit(location, '/');
  if (location.empty()) return InvalidInput("it names no file");
  if (location.front() == '/') return InvalidInput("'", location, "' is an absolute path");
  if (location.find('\0') != std::string::npos || location.find('\\') != std::string::npos) {
    return InvalidInput("its path has a character that no path has");
  }
  std::erase_if(parts, [](const std::string& part) { return part.empty() || part == "."; });
  for (const std::string& part : parts) {
    if (part == "..") return InvalidInput("'", location, "' leaves the model's folder");
  }
  if (parts.empty()) return InvalidInput("it names no file");
  return parts;
}

}  // namespace

absl::StatusOr<InputFile> OpenInputFile(const std::string& path) {
  InputFile file{FileDescriptor(open(path.c_str(), kRead | O_NONBLOCK))};
  struct stat info;
  if (file.descriptor.get() < 0 || fstat(file.descriptor.get(), &info) != 0) {
    const int error = errno;
    const std::string message = absl::StrCat(path, ": cannot open: ", std::strerror(error));
    return error == ENOENT ? MissingFile(message) : absl::FailedPreconditionError(message);
  }
  if (!S_ISREG(info.st_mode)) return InvalidInput(path, ": is ", KindOf(info.st_mode), ", not a file");
  file.bytes = info.st_size;
  return file;
}

absl::StatusOr<InputFile> OpenInputFileBelow(const std::string& folder, const std::string& location) {
  ASSIGN_OR_RETURN(const std::vector<std::string> parts, SplitPath(location));
  FileDescriptor at(open(folder.c_str(), kRead | O_DIRECTORY));
  for (size_t i = 0; i < parts.size() && at.get() >= 0; ++i) {
    const int kind = i + 1 < parts.size() ? O_DIRECTORY : O_NONBLOCK;
    FileDescriptor next(openat(at.get(), parts[i].c_str(), kRead | O_NOFOLLOW | kind));
    struct stat link;
    // With O_DIRECTORY, a symbolic link is "not a directory".
    if (next.get() < 0 && (errno == ELOOP || errno == ENOTDIR) &&
        fstatat(at.get(), parts[i].c_str(), &link, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(link.st_mode)) {
      return InvalidInput("'", parts[i], "' is a symbolic link");
    }
    at = std::move(next);
  }
  struct stat info;
  if (at.get() < 0 || fstat(at.get(), &info) != 0) {
    const int error = errno;
    const std::string message = absl::StrCat("cannot open it: ", std::strerror(error));
    return error == ENOENT ? MissingFile(message) : absl::InvalidArgumentError(message);
  }
  if (!S_ISREG(info.st_mode)) return InvalidInput("it is not a regular file");
  if (info.st_nlink > 1) return InvalidInput("it is a hard link to another file");
  return InputFile{std::move(at), info.st_size};
}

absl::Status ReadRange(const InputFile& file, int64_t offset, int64_t bytes, void* to) {
  for (int64_t done = 0; done < bytes;) {
    const ssize_t count = pread(file.descriptor.get(), static_cast<char*>(to) + done,
                                static_cast<size_t>(bytes - done), offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return InvalidInput("cannot be read: ", std::strerror(errno));
    if (count == 0) return InvalidInput("cannot be read: it ends too early");
    done += count;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFileHead(const std::string& path, int64_t bytes) {
  ASSIGN_OR_RETURN(const InputFile file, OpenInputFile(path));
  std::string head(static_cast<size_t>(std::min(bytes, file.bytes)), '\0');
  RETURN_IF_ERROR(Annotate(ReadRange(file, 0, static_cast<int64_t>(head.size()), head.data()), path));
  return head;
}

}  // namespace attune
