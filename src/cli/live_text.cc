#include "cli/live_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/printable.h"
#include "cli/common/output.h"

namespace attune {
namespace {

constexpr double kDrawSeconds = 0.2;  // the least time between two redraws

winsize TerminalSize() {
  winsize size = {};
  ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
  return size;
}

}  // namespace

LiveText::LiveText() : is_terminal_(isatty(STDERR_FILENO) != 0) {}

bool LiveText::is_due() const { return SystemClock().Now() - last_drawn_ >= kDrawSeconds; }

size_t LiveText::rows() const {
  constexpr size_t kDefault = 24;
  const size_t rows = TerminalSize().ws_row;
  return rows > 0 ? rows : kDefault;
}

size_t LiveText::columns() const {
  constexpr size_t kDefault = 80;
  const size_t columns = TerminalSize().ws_col;
  return columns > 0 ? columns : kDefault;
}

std::string LiveText::Fitted(const std::string& text) const {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  const size_t shown = std::min(std::max<size_t>(rows(), 3) - 2, lines.size());
  std::string fitted;
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&fitted, Cut(lines[i], columns()), "\n");
  if (lines.size() > shown) absl::StrAppend(&fitted, "and ", lines.size() - shown, " more lines\n");
  return fitted;
}

void LiveText::Erase() {
  if (drawn_lines_ > 0) std::fprintf(stderr, "\x1b[%dA\x1b[J", drawn_lines_);
  drawn_lines_ = 0;
}

void LiveText::Draw(const std::string& text) {
  Erase();
  std::fputs(WithoutControls(text, "\n").c_str(), stderr);
  drawn_lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  last_drawn_ = SystemClock().Now();
}

void LiveText::Note(const std::string& line) {
  Erase();
  PrintNote(line);
}

std::string Cut(std::string line, size_t width) {
  size_t columns = 0, bytes = 0;
  while (bytes < line.size() && columns < width) {
    ++bytes;
    while (bytes < line.size() && (line[bytes] & 0xC0) == 0x80) ++bytes;
    ++columns;
  }
  line.resize(bytes);
  return line;
}

std::string FormatDuration(double seconds) {
  const auto whole = static_cast<int64_t>(std::lround(std::max(seconds, 0.0)));
  constexpr int64_t kMinute = 60, kHour = 3600;
  if (whole < 2 * kMinute) return absl::StrCat(whole, " s");
  if (whole < 2 * kHour) return absl::StrFormat("%d:%02d min", whole / kMinute, whole % kMinute);
  return absl::StrFormat("%d:%02d h", whole / kHour, whole % kHour / kMinute);
}

std::string FormatTime(int64_t time_ms) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixMillis(time_ms), absl::LocalTimeZone());
}

}  // namespace attune
