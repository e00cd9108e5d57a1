#include "http/entity_tag.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace attune {

bool IsTagAmong(std::string_view if_none_match, std::string_view tag) {
  for (const std::string_view known : absl::StrSplit(if_none_match, ',')) {
    std::string_view text = absl::StripAsciiWhitespace(known);
    if (text == "*") return true;
    if (text.starts_with("W/")) text.remove_prefix(2);
    if (text == tag) return true;
  }
  return false;
}

}  // namespace attune
