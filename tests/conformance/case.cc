#include "case.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune::conformance {
namespace {

// "Op: reason", from a first line "not supported: Op node: reason".
std::string FirstReason(std::string_view message) {
  std::string_view line = message.substr(0, message.find('\n'));
  if (!line.starts_with(kNotSupportedMark)) return std::string(line);
  line.remove_prefix(kNotSupportedMark.size());
  const size_t space = line.find(' '), colon = line.find(": ");
  if (space >= colon || colon == std::string_view::npos) return std::string(line);
  return absl::StrCat(line.substr(0, space), line.substr(colon));
}

}  // namespace

Result FromStatus(const absl::Status& status, std::string_view stage) {
  if (absl::IsUnimplemented(status)) return {Outcome::kNotSupported, FirstReason(status.message())};
  return {Outcome::kWrong, absl::StrCat(stage, ": ", status.message())};
}

}  // namespace attune::conformance
