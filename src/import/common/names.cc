#include "import/common/names.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace attune::importing {
namespace {

// At most the last `size` bytes, beginning with a whole UTF-8 character.
std::string_view End(std::string_view text, size_t size) {
  text.remove_prefix(text.size() - std::min(size, text.size()));
  while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0) == 0x80) text.remove_prefix(1);
  return text;
}

}  // namespace

std::string ScopedName(std::string_view prefix, std::string_view name) {
  constexpr std::string_view kCut = "...";
  if (prefix.size() + name.size() <= kMaxNameLength) return absl::StrCat(prefix, name);
  const size_t room = kMaxNameLength - kCut.size();
  if (name.size() >= room) return absl::StrCat(kCut, End(name, room));
  return absl::StrCat(kCut, End(prefix, room - name.size()), name);
}

}  // namespace attune::importing
