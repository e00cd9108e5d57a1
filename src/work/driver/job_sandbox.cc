#include "work/driver/job_sandbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file_descriptor.h"
#include "base/log.h"
#include "base/process/sandbox.h"
#include "base/process/sibling_program.h"
#include "base/process/worker_process.h"
#include "device/lease.h"

namespace attune {
namespace {

// A job runs programs from the first, reads facts about the machine and the network from the second, and may
// write to the third.
constexpr const char* kExecuted[] = {"/usr", "/lib", "/lib64", "/bin"};
constexpr const char* kRead[] = {"/proc",          "/sys",           "/etc/ld.so.cache",   "/etc/hosts",
                                 "/etc/host.conf", "/etc/localtime", "/etc/nsswitch.conf", "/etc/resolv.conf",
                                 "/etc/gai.conf",  "/dev/urandom"};
constexpr const char* kChanged[] = {"/dev/null"};

// All else in the environment is the runner's own.
constexpr std::string_view kVariables[] = {
    "ATTUNE_HOST_CPU", "ATTUNE_LEASES", "LD_LIBRARY_PATH", "PATH",
    "ASAN_OPTIONS",    "TSAN_OPTIONS",  "UBSAN_OPTIONS",   "LLVM_PROFILE_FILE"};

void ForgetVariables() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names)
    if (std::ranges::find(kVariables, name) == std::end(kVariables)) unsetenv(name.c_str());
}

// Files that are there, open to be named in rules.
class AllowedPaths {
 public:
  void Add(const std::string& path, FileUse use) {
    FileDescriptor open_path(open(path.c_str(), O_PATH | O_CLOEXEC));
    if (open_path.get() < 0) return;
    files_.push_back({.open = open_path.get(), .use = use});
    open_.push_back(std::move(open_path));
  }
  const std::vector<AllowedFiles>& files() const { return files_; }

 private:
  std::vector<FileDescriptor> open_;
  std::vector<AllowedFiles> files_;
};

}  // namespace

absl::Status ConfineJob(const JobPlace& place, int port) {
  namespace fs = std::filesystem;
  AllowedPaths paths;
  for (const char* path : kExecuted) paths.Add(path, FileUse::kExecute);
  for (const char* path : kRead) paths.Add(path, FileUse::kRead);
  for (const char* path : kChanged) paths.Add(path, FileUse::kChange);
  std::error_code error;
  paths.Add(fs::read_symlink("/proc/self/exe", error).string(), FileUse::kExecute);
  paths.Add(FileOfThisCode(), FileUse::kExecute);  // which may be a library
  // Processes that build kernels are started from there.
  if (const auto program = FindWorkerProgram(""); program.ok()) paths.Add(*program, FileUse::kExecute);
  paths.Add(DefaultLeaseFolder(), FileUse::kChange);
  paths.Add(place.folder, FileUse::kChange);
  ForgetVariables();
  setenv("TMPDIR", place.folder.c_str(), 1);  // for databases that sort
  const auto threads = fs::directory_iterator("/proc/self/task", error);
  absl::Status files;
  if (error || std::distance(begin(threads), end(threads)) != 1)
    files = absl::FailedPreconditionError("a thread has begun before, and is not confined");
  files.Update(ForbidFiles(paths.files()));
  const absl::Status peers = ForbidPeersBut(port);
  for (const absl::Status& fence : {files, peers})
    if (!fence.ok()) Log(LogLevel::kWarning, "a job is confined in part", "reason", fence.message());
  if (files.ok() || place.confinement != Confinement::kMust) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("this machine cannot keep jobs from each other's files: ", files.message()));
}

}  // namespace attune
