#include "io/labels.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{1} << 24;

// Parses "12 name", also with a tab, a colon or a comma after the number.
std::optional<std::pair<int64_t, std::string_view>> SplitIndex(std::string_view line) {
  const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  int64_t index;
  if (!absl::SimpleAtoi(line.substr(0, digits), &index)) return std::nullopt;
  if (digits == line.size() || std::string_view(" \t:,").find(line[digits]) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = absl::StripAsciiWhitespace(line.substr(digits + 1));
  if (rest.empty()) return std::nullopt;
  return std::pair(index, rest);
}

}  // namespace

absl::StatusOr<Labels> Labels::Parse(std::string_view text, std::string_view name) {
  std::vector<std::string_view> lines = absl::StrSplit(text, '\n');
  for (std::string_view& line : lines) line = absl::StripAsciiWhitespace(line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.empty()) return InvalidInput(name, ": no labels in it");

  const bool sparse = std::ranges::all_of(
      lines, [](std::string_view line) { return line.empty() || SplitIndex(line).has_value(); });
  Labels labels;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!sparse) {
      labels.names_[static_cast<int64_t>(i)] = lines[i];
    } else if (const auto row = SplitIndex(lines[i])) {
      if (!labels.names_.emplace(row->first, row->second).second) {
        return InvalidInput(name, ":", i + 1, ": class ", row->first, " has a name already");
      }
    }
  }
  return labels;
}

absl::StatusOr<Labels> Labels::Read(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxFileBytes));
  return Parse(text, path);
}

std::string Labels::Name(int64_t index, int64_t classes) const {
  const bool skips_background =
      classes > 0 && size() == classes + 1 && names_.begin()->second == "background";
  const auto it = names_.find(skips_background ? index + 1 : index);
  return it != names_.end() ? it->second : absl::StrCat(index);
}

}  // namespace attune
