#include "base/process/pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/printable.h"
#include "base/process/message.h"

namespace attune {
namespace {

constexpr size_t kReadBytes = size_t{1} << 16;
constexpr size_t kKeptErrorBytes = 4000;

}  // namespace

absl::StatusOr<OutputPipe> OpenOutputPipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return absl::ResourceExhaustedError(absl::StrCat("cannot be started: pipe: ", std::strerror(errno)));
  OutputPipe made = {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return made;
}

bool CanRead(int file, double seconds) {
  const Deadline deadline = After(seconds);
  pollfd waits = {file, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&waits, 1, PollTimeout(deadline));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

std::optional<std::string> ReadSome(int file) {
  std::string text(kReadBytes, '\0');
  ssize_t got = 0;
  do {
    got = read(file, text.data(), text.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return std::nullopt;
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

std::string DescribeWait(int wait_status) {
  if (WIFEXITED(wait_status)) return absl::StrCat("exit status ", WEXITSTATUS(wait_status));
  return absl::StrCat("signal ", WTERMSIG(wait_status), " (", strsignal(WTERMSIG(wait_status)), ")");
}

void PrintedErrors::Add(const std::string& text) {
  text_ += text;
  if (text_.size() > kKeptErrorBytes) text_.erase(0, text_.size() - kKeptErrorBytes);
}

std::string PrintedErrors::Suffix() const {
  const std::string_view printed = absl::StripAsciiWhitespace(text_);
  if (printed.empty()) return "";
  return absl::StrCat("; it printed: ", WithoutControls(absl::StrReplaceAll(printed, {{"\n", " | "}})));
}

}  // namespace attune
