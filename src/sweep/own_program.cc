#include "sweep/own_program.h"

#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "base/html.h"
#include "base/input_file.h"
#include "base/printable.h"
#include "base/process/companion_process.h"
#include "base/process/pipe.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr double kPollSeconds = 0.1;
constexpr int64_t kMostErrorBytes = 4096;  // at the end of a log

int64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

}  // namespace

std::string LastError(std::string_view printed) {
  absl::string_view last, last_error;
  for (absl::string_view line : absl::StrSplit(printed, absl::ByAnyChar("\r\n"), absl::SkipWhitespace())) {
    last = line;
    if (absl::StartsWith(line, kNotSupportedMark) ||
        (absl::ConsumePrefix(&line, "attune: ") && !absl::StartsWith(line, "note: ")))
      last_error = line;
  }
  const absl::string_view reason = absl::StripAsciiWhitespace(last_error.empty() ? last : last_error);
  return WithoutControls({reason.data(), reason.size()});
}

std::string LastErrorOfLog(const std::string& log, int64_t offset) {
  const absl::StatusOr<InputFile> file = OpenInputFile(log);
  if (!file.ok()) return std::string(file.status().message());
  const int64_t begin = std::max(offset, file->bytes - kMostErrorBytes);
  std::string text(static_cast<size_t>(std::max<int64_t>(file->bytes - begin, 0)), '\0');
  const absl::Status status = ReadRange(*file, begin, std::ssize(text), text.data());
  return status.ok() ? LastError(text) : std::string(status.message());
}

absl::Status OwnProgram::Run(const std::vector<std::string>& arguments, const std::string& log,
                             const Cancellation& cancellation) {
  std::vector<std::string> command = {"attune"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const int64_t offset = SizeOf(log);
  ASSIGN_OR_RETURN(const std::unique_ptr<CompanionProcess> process,
                   CompanionProcess::Start(kOwnProgram, std::move(command), base_, log));
  const Stopwatch watch;
  for (;;) {
    if (const std::optional<int> status = process->AwaitEnd(kPollSeconds)) {
      if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return absl::OkStatus();
      const std::string error = LastErrorOfLog(log, offset);
      const bool says_why = WIFEXITED(*status) && !error.empty();
      return absl::AbortedError(says_why ? error
                                         : absl::StrCat("has ended with ", DescribeWait(*status),
                                                        error.empty() ? "" : ": ", error));
    }
    if (cancellation.is_cancelled()) return absl::CancelledError("stopped");
    if (most_seconds_ > 0 && watch.Seconds() > most_seconds_)
      return absl::DeadlineExceededError(
          absl::StrCat("has not ended within the timeout of ", SecondsText(most_seconds_)));
  }
}

}  // namespace attune
