#include "graph/names.h"

#include <algorithm>

#include "absl/strings/ascii.h"

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

std::string Quote(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (c == '\r') {
      quoted += "\\r";
    } else if (byte < 0x20 || byte > 0x7E) {
      quoted += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string QuoteUnlessIdentifier(std::string_view name) {
  return IsIdentifier(name) ? std::string(name) : Quote(name);
}

}  // namespace attune
