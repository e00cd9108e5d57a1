#include "case.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace attune::conformance {
namespace {

// "Op: reason", from a first line "NS Op node: reason".
std::string FirstReason(std::string_view message) {
  const std::string_view line = message.substr(0, message.find('\n'));
  const std::vector<std::string_view> words = absl::StrSplit(line, absl::MaxSplits(' ', 2));
  const size_t colon = line.find(": ");
  if (words.size() < 3 || words[0] != "NS" || colon == std::string_view::npos) return std::string(line);
  return absl::StrCat(words[1], line.substr(colon));
}

}  // namespace

Result FromStatus(const absl::Status& status, std::string_view stage) {
  if (absl::IsUnimplemented(status)) return {Outcome::kNotSupported, FirstReason(status.message())};
  return {Outcome::kWrong, absl::StrCat(stage, ": ", status.message())};
}

}  // namespace attune::conformance
