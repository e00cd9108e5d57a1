#include "base/state_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/private_file.h"
#include "base/status.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

bool IsOurs(const struct stat& info) { return info.st_uid == geteuid() || info.st_uid == 0; }

absl::Status SystemError(const std::string& path) {
  const std::string message = absl::StrCat(path, ": cannot be opened: ", std::strerror(errno));
  return errno == ENOENT || errno == ENOTDIR ? absl::NotFoundError(message)
                                             : absl::FailedPreconditionError(message);
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

// A folder above the path in which everybody may replace what is not theirs; nothing if there is none.
std::optional<std::string> OpenFolderAbove(const std::string& path) {
  std::error_code error;
  for (fs::path folder = fs::canonical(path, error); !error && folder.has_relative_path();) {
    folder = folder.parent_path();
    struct stat info = {};
    if (stat(folder.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) == 0)
      return folder.string();
  }
  return std::nullopt;
}

// Says what is there in place of a file, for people; empty if it is a file.
std::string_view NoFile(const struct stat& info) {
  if (S_ISLNK(info.st_mode)) return "a symbolic link";
  return S_ISREG(info.st_mode) ? "" : "not a regular file";
}

absl::Status RefuseFile(const std::string& path, std::string_view what) {
  return absl::PermissionDeniedError(absl::StrCat(
      path, ": is ", what, ", and what a service keeps may lead to no other file; move it away"));
}

// Nothing may be there.
absl::Status CheckNoLink(const std::string& path, bool may_have_other_names) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0) return errno == ENOENT ? absl::OkStatus() : SystemError(path);
  if (const std::string_view kind = NoFile(info); !kind.empty()) return RefuseFile(path, kind);
  if (!may_have_other_names && info.st_nlink > 1) return RefuseFile(path, "a hard link to another file");
  if (!IsOurs(info)) return RefuseFile(path, absl::StrCat("a file of the user ", info.st_uid));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStateFolder(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return SystemError(path);
  if (!S_ISDIR(info.st_mode)) return absl::FailedPreconditionError(absl::StrCat(path, ": is not a folder"));
  if (!IsOurs(info))
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": is a folder of the user ", info.st_uid,
                     ", who could replace its files; name another folder, or give it to this user"));
  if ((info.st_mode & kOthersWrite) != 0)
    return absl::PermissionDeniedError(absl::StrFormat(
        "%s: others can write there (its mode is %o) and replace its files; close it with chmod go-w %s",
        path, info.st_mode & 07777, path));
  if (const std::optional<std::string> above = OpenFolderAbove(path))
    return absl::PermissionDeniedError(absl::StrCat(
        path, ": others can write in ", *above, " and replace the folder; close that with chmod o-w ", *above,
        ", or with chmod +t ", *above, " if they have to"));
  return absl::OkStatus();
}

absl::Status MakeStateFolder(const std::string& path) {
  RETURN_IF_ERROR(MakePrivateFolder(path));
  return CheckStateFolder(path);
}

absl::Status CheckStateFile(const std::string& path) {
  const absl::Status folder = CheckStateFolder(FolderOf(path));
  if (absl::IsNotFound(folder)) return absl::OkStatus();
  RETURN_IF_ERROR(folder);
  return CheckNoLink(path, /*may_have_other_names=*/false);
}

absl::Status WriteStateFile(const std::string& path, std::string_view content) {
  RETURN_IF_ERROR(CheckStateFolder(FolderOf(path)));
  // Another name keeps the old content, and a backup gives such names for a while.
  RETURN_IF_ERROR(CheckNoLink(path, /*may_have_other_names=*/true));
  return WritePrivateFile(path, content);
}

absl::StatusOr<std::string> ReadStateFile(const std::string& path, int64_t max_bytes) {
  RETURN_IF_ERROR(CheckStateFolder(FolderOf(path)));
  RETURN_IF_ERROR(CheckNoLink(path, /*may_have_other_names=*/true));
  return ReadPrivateFile(path, max_bytes);
}

}  // namespace attune
