#include "cli/shape_flag.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace attune {
namespace {

std::string CheckShape(const std::string& text) {
  return ParseShape(text).has_value() ? "" : absl::StrCat("\"", text, "\" is not like input=1x3x224x224");
}

}  // namespace

void AddShapeFlag(CLI::App& command, std::vector<std::string>& shapes) {
  command.add_option("--shape", shapes, "shape of an input that the model leaves open: input=1x3x224x224")
      ->allow_extra_args(false)
      ->check(CheckShape);
}

std::optional<std::pair<std::string, Shape>> ParseShape(const std::string& text) {
  // The last '=': names may contain it, sizes do not.
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  Shape shape;
  const std::string sizes = text.substr(equals + 1);
  for (absl::string_view part : absl::StrSplit(sizes, 'x', absl::SkipEmpty())) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 0) return std::nullopt;
    shape.push_back(size);
  }
  return std::make_pair(text.substr(0, equals), std::move(shape));
}

}  // namespace attune
