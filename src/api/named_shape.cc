#include "api/named_shape.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace attune {

std::optional<std::pair<std::string, Shape>> ParseNamedShape(const std::string& text) {
  // Splits at the last '=', since names may contain it and sizes do not.
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  Shape shape;
  const std::string sizes = text.substr(equals + 1);
  if (sizes.empty()) return std::make_pair(text.substr(0, equals), std::move(shape));
  for (absl::string_view part : absl::StrSplit(sizes, 'x')) {
    int64_t size = -1;
    if (part != "?" && (!absl::SimpleAtoi(part, &size) || size < 0)) return std::nullopt;
    shape.push_back(size);
  }
  return std::make_pair(text.substr(0, equals), std::move(shape));
}

}  // namespace attune
