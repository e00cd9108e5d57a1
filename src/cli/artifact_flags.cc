#include "cli/artifact_flags.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status.h"
#include "cli/signing.h"

namespace attune {
namespace {

constexpr size_t kAllDigits = 64;

bool IsSha256(std::string_view text) {
  return text.size() == kAllDigits && std::ranges::all_of(text, absl::ascii_isxdigit);
}

std::string CheckSha256(const std::string& text) {
  return IsSha256(text) ? "" : "it takes 64 hexadecimal digits, as sha256sum prints them";
}

// Set before the signal handler is installed. It is a global because a signal handler cannot take arguments
// of ours.
std::string lost_file_message;

[[noreturn]] void OnBusError(int) {
  // A signal handler may only use system calls.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, lost_file_message.data(), lost_file_message.size());
  _exit(1);
}

}  // namespace

void AddArtifactFlags(CLI::App& command, ArtifactFlags& flags) {
  command
      .add_option(
          "--sha256", flags.sha256,
          "run the artifact only if its file has this SHA-256; the bytes that are checked are the ones "
          "that run")
      ->check(CheckSha256);
  command
      .add_option("--trusted", flags.trusted,
                  "run an artifact only if this file lists its SHA-256, one per line as sha256sum prints "
                  "them (default: run any)")
      ->envname("ATTUNE_TRUSTED");
  command
      .add_option("--trust", flags.trust,
                  "run an artifact only if a key in this file of public keys (PEM) has signed it (attune key "
                  "create, attune compile --sign); may be repeated")
      ->type_name("KEY")
      ->allow_extra_args(false)
      ->envname("ATTUNE_TRUST");
}

absl::StatusOr<ArtifactOptions> ReadArtifactFlags(const ArtifactFlags& flags) {
  ArtifactOptions options;
  options.sha256 = flags.sha256;
  if (!flags.trust.empty()) {
    ASSIGN_OR_RETURN(options.trusted_keys, ReadTrustedKeys(flags.trust));
  }
  if (flags.trusted.empty()) return options;
  constexpr int64_t kMaxListBytes = 16 << 20;
  ASSIGN_OR_RETURN(const std::string list, ReadFile(flags.trusted, kMaxListBytes));
  options.trusted.emplace();
  int number = 0;
  for (std::string_view line : absl::StrSplit(list, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const std::string_view digest = line.substr(0, line.find_first_of(" \t"));
    if (!IsSha256(digest)) {
      return InvalidInput(flags.trusted, ":", number,
                          ": a line begins with 64 hexadecimal digits, as sha256sum prints them");
    }
    options.trusted->emplace_back(digest);
  }
  return options;
}

void ExplainLostFile(std::string path) {
  std::ranges::replace_if(path, absl::ascii_iscntrl, '?');
  lost_file_message = absl::StrCat("attune: ", path,
                                   ": cannot be read any more: the file became shorter, or its disk failed, "
                                   "while it was in use; copy it again\n");
  struct sigaction action = {};
  action.sa_handler = OnBusError;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace attune
