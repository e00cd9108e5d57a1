#include "cli/common/output.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

// Escapes non-printable characters in strings as \uXXXX. A terminal then shows them, and a parser reads the
// same text.
std::string Escaped(std::string_view json) {
  std::string escaped;
  while (!json.empty()) {
    const TextCharacter character = FirstCharacter(json);
    if (character.printable || character.code == '\n') {
      escaped += json.substr(0, character.bytes);
    } else {
      absl::StrAppendFormat(&escaped, "\\u%04x", character.code);
    }
    json.remove_prefix(character.bytes);
  }
  return escaped;
}

void Write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// Number of terminal columns: the bytes of UTF-8 that do not continue a character.
size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void PrintResult(std::string_view text) { Write(WithoutControls(text, "\n")); }

absl::Status FlushOutput() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return absl::OkStatus();
  return absl::UnavailableError("cannot write to standard output; is its disk full?");
}

void PrintError(const absl::Status& status) {
  const std::string_view message = status.message();
  if (!absl::StartsWith(message, kNotSupportedMark)) {
    std::fprintf(stderr, "attune: %s\n", WithoutControls(message).c_str());
    return;
  }
  for (absl::string_view line : absl::StrSplit(message, '\n'))
    std::fprintf(stderr, "%s\n", WithoutControls(line).c_str());
}

void PrintNote(std::string_view text) {
  std::fprintf(stderr, "attune: note: %s\n", WithoutControls(text).c_str());
}

absl::Status WriteJson(const Json& json, const std::string& destination) {
  // Names come from files and may be invalid UTF-8.
  const std::string text = Escaped(json.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
  if (destination != "-") return WriteFileAtomically(destination, text);
  Write(text);
  return absl::OkStatus();
}

std::string FormatTable(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right) {
  std::vector<std::vector<std::string>> cells;
  std::vector<size_t> widths(right.size(), 0);
  for (const auto& row : rows) {
    std::vector<std::string>& clean = cells.emplace_back();
    for (size_t c = 0; c < row.size(); ++c) {
      clean.push_back(WithoutControls(row[c]));
      widths[c] = std::max(widths[c], Width(clean[c]));
    }
  }
  std::string text;
  for (const auto& row : cells) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - Width(row[c]), ' ');
      absl::StrAppend(&line, c == 0 ? "" : "  ", right[c] ? padding : "", row[c], right[c] ? "" : padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string FormatBytes(uint64_t bytes) {
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes);
  const char* unit = "";
  for (const char* larger : {"KB", "MB", "GB", "TB"}) {
    if (value < 999.5) break;
    value /= 1000;
    unit = larger;
  }
  return absl::StrFormat("%.*f %s", value < 99.95 ? 1 : 0, value, unit);
}

std::string FormatWeights(uint64_t stored, uint64_t in_memory) {
  if (stored == in_memory) return FormatBytes(stored);
  return absl::StrCat(FormatBytes(stored), " in the file and ", FormatBytes(in_memory), " in memory");
}

Progress::Progress() : enabled_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (enabled_) std::fputs("\r\x1b[K", stderr);
}

void Progress::Show(std::string_view stage) {
  if (!enabled_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stage == shown_) return;
  shown_ = stage;
  std::fprintf(stderr, "\r\x1b[K%s …", WithoutControls(stage).c_str());
}

void Progress::Report(std::string_view what, int64_t done, int64_t total) {
  if (!enabled_) return;
  // The item in progress.
  const int64_t current = std::min(done + 1, total);
  Show(total == 0 ? std::string(what) : absl::StrCat(what, " ", current, " of ", total));
}

}  // namespace attune
