#include "run_attune.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

namespace attune {
namespace {

// A terminal, and the text that is written to it.
class Terminal {
 public:
  Terminal() {
    const winsize size = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    if (openpty(&ours_, &theirs_, nullptr, nullptr, &size) != 0) std::abort();
    reader_ = std::thread([this] {
      char buffer[4096];
      for (ssize_t bytes = 0; (bytes = read(ours_, buffer, sizeof(buffer))) > 0;)
        text_.append(buffer, static_cast<size_t>(bytes));
    });
  }
  int theirs() const { return theirs_; }
  // The text; call it once no other process has the terminal open.
  std::string Close() {
    close(theirs_);
    reader_.join();
    close(ours_);
    return std::move(text_);
  }

 private:
  int ours_ = -1, theirs_ = -1;
  std::thread reader_;
  std::string text_;
};

// Runs in the child. `most` = -1: no limit.
void LimitTo(__rlimit_resource resource, int64_t most) {
  if (most < 0) return;
  const rlimit limit = {static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
  if (setrlimit(resource, &limit) != 0) _exit(126);
}

// Runs in the child: becomes the program, or ends. `terminal` = -1: standard error goes to the file.
[[noreturn]] void Become(const std::vector<std::string>& arguments, const RunOptions& options,
                         const std::string& out, const std::string& err, int terminal) {
  const int out_fd = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_fd = terminal >= 0 ? terminal : open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out_fd < 0 || err_fd < 0 || dup2(out_fd, 1) < 0 || dup2(err_fd, 2) < 0) _exit(126);
  const int in_fd = options.standard_input.empty() ? 0 : open(options.standard_input.c_str(), O_RDONLY);
  if (in_fd < 0 || dup2(in_fd, 0) < 0) _exit(126);
  LimitTo(RLIMIT_FSIZE, options.max_file_bytes);
  LimitTo(RLIMIT_AS, options.max_address_bytes);
  LimitTo(RLIMIT_NOFILE, options.max_open_files);
  for (const auto& [name, value] : options.environment) {
    if (setenv(name.c_str(), value.c_str(), /*overwrite=*/1) != 0) _exit(126);
  }
  if (setenv("ATTUNE_RECORDS", options.records.c_str(), /*overwrite=*/1) != 0) _exit(126);
  std::vector<char*> argv = {const_cast<char*>(ATTUNE_PROGRAM)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

// wait4() that meanwhile sends the signal.
pid_t Await(pid_t child, const RunOptions& options, int* status, rusage* usage) {
  pid_t ended = 0;
  while (options.signal_when != nullptr && ended == 0 && !options.signal_when()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ended = wait4(child, status, WNOHANG, usage);
  }
  if (ended != 0) return ended;
  if (options.signal_when != nullptr) kill(child, options.signal);
  return wait4(child, status, 0, usage);
}

}  // namespace

Outcome RunAttune(const std::vector<std::string>& arguments, const RunOptions& options) {
  const TemporaryFolder folder;
  const std::string out = options.standard_output.empty() ? folder / "out" : options.standard_output;
  std::optional<Terminal> terminal;
  if (options.on_terminal) terminal.emplace();
  const pid_t child = fork();
  if (child == 0) Become(arguments, options, out, folder / "err", terminal ? terminal->theirs() : -1);
  int status = 0;
  rusage usage = {};
  const bool has_ended = child > 0 && Await(child, options, &status, &usage) > 0;
  const std::string shown = terminal ? terminal->Close() : "";
  if (!has_ended) return {};
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.peak_kib = usage.ru_maxrss;
  if (options.standard_output.empty()) outcome.out = ReadAll(out);
  outcome.err = terminal ? shown : ReadAll(folder / "err");
  return outcome;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "attune_cli_XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::Files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string TemporaryFolder::Write(const std::string& name, const std::string& content) const {
  std::ofstream(*this / name, std::ios::binary) << content;
  return *this / name;
}

}  // namespace attune
