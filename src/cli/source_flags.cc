#include "cli/source_flags.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/named_shape.h"

namespace attune {
namespace {

std::string CheckShape(const std::string& text) {
  return ParseNamedShape(text).has_value()
             ? ""
             : absl::StrCat("\"", text, "\" is not of the form input=1x3x224x224");
}

}  // namespace

std::vector<std::string> ShapesOfSet(const std::string& text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

std::string CheckShapeSet(const std::string& text) {
  const std::vector<std::string> shapes = ShapesOfSet(text);
  if (shapes.empty()) return "a set of shapes is empty; it is like \"a=1x128 b=1x128\"";
  for (const std::string& shape : shapes) {
    if (std::string fault = CheckShape(shape); !fault.empty()) return fault;
  }
  return "";
}

void AddSourceFlags(CLI::App& command, SourceFlags& flags, const std::string& model_help) {
  command.add_option("MODEL", flags.model, model_help);
  command
      .add_option("--shape", flags.shapes,
                  "shape of an input that the model leaves open: input=1x3x224x224; attune compile takes ? "
                  "for a size that stays open")
      ->allow_extra_args(false)
      ->check(CheckShape);
  command.add_option("--signature", flags.signature,
                     "entry point of a TensorFlow or TensorFlow Lite model that has several (default: the "
                     "one for inference)");
}

}  // namespace attune
