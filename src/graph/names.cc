#include "graph/names.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "base/text/quote.h"

namespace attune {

bool IsIdentifier(std::string_view name) {
  if (name.empty() || name == "_" || absl::ascii_isdigit(static_cast<unsigned char>(name[0])) ||
      name[0] == '.') {
    return false;
  }
  return std::ranges::all_of(name, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  });
}

std::string QuoteUnlessIdentifier(std::string_view name) {
  return IsIdentifier(name) ? std::string(name) : Quote(name);
}

}  // namespace attune
