#include "cli/common/passphrase.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <string_view>

#include "base/file_descriptor.h"
#include "base/output_file.h"
#include "base/private_file.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int64_t kMostBytes = 4096;

// Typed characters are not shown meanwhile.
class Silence {
 public:
  explicit Silence(int terminal) : terminal_(terminal) {
    is_known_ = tcgetattr(terminal_, &before_) == 0;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (is_known_) tcsetattr(terminal_, TCSAFLUSH, &silent);
  }
  ~Silence() {
    if (is_known_) tcsetattr(terminal_, TCSAFLUSH, &before_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  const int terminal_;
  termios before_ = {};
  bool is_known_ = false;
};

absl::StatusOr<std::string> Ask(std::string_view question) {
  const FileDescriptor terminal(open("/dev/tty", O_RDWR | O_CLOEXEC));
  if (terminal.get() < 0)
    return InvalidInput("there is no terminal to ask for the passphrase; name a file with --passphrase-file");
  const Silence silence(terminal.get());
  WriteAll(terminal, question);
  std::string line;
  for (char c = 0; std::ssize(line) < kMostBytes && read(terminal.get(), &c, 1) == 1 && c != '\n';) line += c;
  WriteAll(terminal, "\n");
  return line;
}

absl::StatusOr<std::string> FirstLineOf(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadPrivateFile(file, kMostBytes));
  return text.substr(0, text.find_first_of("\r\n"));
}

}  // namespace

absl::StatusOr<std::string> KnownPassphrase(const std::string& file) {
  return file.empty() ? Ask("passphrase: ") : FirstLineOf(file);
}

absl::StatusOr<std::string> NewPassphrase(const std::string& file) {
  if (!file.empty()) return FirstLineOf(file);
  ASSIGN_OR_RETURN(std::string first, Ask("passphrase of the backup: "));
  ASSIGN_OR_RETURN(const std::string second, Ask("once more: "));
  if (first != second) return InvalidInput("the passphrases differ; try again");
  return first;
}

}  // namespace attune
