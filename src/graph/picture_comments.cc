#include "graph/picture_comments.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/quote.h"

namespace attune {
namespace {

constexpr std::string_view kStart = "// picture ";

std::string End(std::string_view input) { return absl::StrCat(" of ", Quote(input)); }

}  // namespace

std::string PictureComments(const PictureFormats& formats) {
  std::string text;
  for (const auto& [input, format] : formats)
    absl::StrAppend(&text, kStart, ToString(format), End(input), "\n");
  return text;
}

std::optional<PictureFormat> FindPictureComment(std::string_view text, std::string_view input) {
  const std::string end = End(input);
  for (const std::string_view line : absl::StrSplit(text, '\n')) {
    if (!line.starts_with(kStart)) return std::nullopt;
    if (!line.ends_with(end)) continue;
    return ParsePictureFormat(line.substr(kStart.size(), line.size() - kStart.size() - end.size()));
  }
  return std::nullopt;
}

}  // namespace attune
