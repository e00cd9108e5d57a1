#include "api/name_errors.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace attune {
namespace {

// Adds the file to each line of what is not supported, and a remedy unless the reason already gives one after
// a semicolon.
absl::Status NameLines(const absl::Status& status, const std::string& source) {
  std::vector<std::string> lines = absl::StrSplit(status.message(), '\n');
  const std::string file = absl::StrCat(" (in ", source, ")");
  for (std::string& line : lines) {
    if (absl::EndsWith(line, file)) continue;
    absl::StrAppend(&line, absl::StrContains(line, "; ") ? "" : "; export the model without it", file);
  }
  return absl::UnimplementedError(absl::StrJoin(lines, "\n"));
}

}  // namespace

absl::Status Name(const absl::Status& status, const std::string& source) {
  if (absl::IsUnimplemented(status) && absl::StartsWith(status.message(), kNotSupportedMark))
    return NameLines(status, source);
  return absl::StartsWith(status.message(), source) ? status : Annotate(status, source);
}

}  // namespace attune
