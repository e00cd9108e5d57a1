#include "fleet/slurm/pilot_spool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <system_error>

#include "absl/random/random.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/input_file.h"
#include "base/printable.h"
#include "base/sqlite/active_lock.h"
#include "base/state_file.h"
#include "base/status.h"
#include "fleet/slurm/pilot_planner.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr char kScript[] = "#!/bin/sh\nexec \"$@\"\n";
constexpr int64_t kMostTagBytes = 64, kLastBytes = 400;

absl::Status CheckFolder(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return InvalidInput(path, ": is not a folder");
  if (info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat(path, ": others can write there, and pilots take what they run from it; name a folder of ",
                   "your own"));
}

// The tag of a spool, which is made the first time.
absl::StatusOr<std::string> TagOf(const std::string& path) {
  const std::string file = path + "/tag";
  std::error_code error;
  if (!fs::exists(file, error)) RETURN_IF_ERROR(WriteStateFile(file, RandomPilotId()));
  ASSIGN_OR_RETURN(std::string tag, ReadStateFile(file, kMostTagBytes));
  if (!tag.empty() && std::ranges::all_of(tag, absl::ascii_isxdigit)) return tag;
  return InvalidInput(file, ": is damaged; remove it once no pilot of this spool runs any more");
}

}  // namespace

std::string RandomPilotId() {
  absl::BitGen random;
  return absl::StrCat(
      absl::Hex(absl::Uniform<uint32_t>(random, 0, std::numeric_limits<uint32_t>::max()), absl::kZeroPad8));
}

absl::StatusOr<std::unique_ptr<PilotSpool>> PilotSpool::Open(const std::string& path) {
  RETURN_IF_ERROR(MakeStateFolder(path));
  std::error_code error;
  const std::string folder = fs::canonical(path, error).string();  // jobs start elsewhere
  RETURN_IF_ERROR(CheckFolder(error ? path : folder));
  ASSIGN_OR_RETURN(FileDescriptor lock, LockActive(folder + "/controller", "controller"));
  if (lock.get() < 0)
    return absl::FailedPreconditionError(absl::StrCat(folder, ": another controller has this spool"));
  ASSIGN_OR_RETURN(std::string tag, TagOf(folder));
  std::unique_ptr<PilotSpool> spool(new PilotSpool(folder, std::move(tag), std::move(lock)));
  RETURN_IF_ERROR(WriteStateFile(spool->Script(), kScript));
  return spool;
}

absl::StatusOr<std::vector<std::string>> PilotSpool::Pilots() const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (absl::StartsWith(name, PilotPrefix(tag_))) names.push_back(std::move(name));
  }
  if (error) return absl::UnavailableError(absl::StrCat(path_, ": ", error.message()));
  return names;
}

absl::Status PilotSpool::Invite(const std::string& name, const std::string& invitation) const {
  RETURN_IF_ERROR(MakeStateFolder(path_ + "/" + name));
  return WriteStateFile(InvitationFile(name), invitation);
}

void PilotSpool::Remove(const std::string& name) const {
  std::error_code ignored;  // the next process that opens the spool tries again
  fs::remove_all(path_ + "/" + name, ignored);
}

std::string PilotSpool::LastLine(const std::string& name) const {
  const absl::StatusOr<InputFile> file = OpenInputFile(Log(name));
  if (!file.ok()) return "";
  const int64_t count = std::min(file->bytes, kLastBytes);
  std::string text(static_cast<size_t>(count), '\0');
  if (!ReadRange(*file, file->bytes - count, count, text.data()).ok()) return "";
  const std::vector<std::string> lines = absl::StrSplit(absl::StripAsciiWhitespace(text), '\n');
  return WithoutControls(lines.back());
}

}  // namespace attune
