#include "base/face.h"

#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace attune {
namespace {

std::atomic<Face> face_of_process = Face::kCommandLine;

}  // namespace

void SetFace(Face face) { face_of_process = face; }
Face CurrentFace() { return face_of_process; }

std::string NameAsGiven(std::string_view flag, std::string_view name) {
  return std::string(CurrentFace() == Face::kCommandLine ? flag : name);
}

std::string ShapesAsGiven(std::span<const WrittenShape> shapes) {
  const Face face = CurrentFace();
  std::vector<std::string> texts;
  for (const auto& [input, sizes] : shapes) {
    if (face == Face::kCommandLine)
      texts.push_back(absl::StrCat("--shape ", input, "=", absl::StrJoin(sizes, "x")));
    else if (face == Face::kPython)
      texts.push_back(absl::StrCat("\"", input, "\": [", absl::StrJoin(sizes, ", "), "]"));
    else
      texts.push_back(absl::StrCat("{\"", input, "\", {", absl::StrJoin(sizes, ", "), "}}"));
  }
  if (face == Face::kCommandLine) return absl::StrJoin(texts, " ");
  return absl::StrCat(face == Face::kPython ? "shapes={" : ".shapes = {", absl::StrJoin(texts, ", "), "}");
}

std::string ValueAsGiven(std::string_view input) {
  switch (CurrentFace()) {
    case Face::kPython:
      return absl::StrCat("values={\"", input, "\": array}");
    case Face::kCpp:
      return absl::StrCat(".values = {{\"", input, "\", tensor}}");
    case Face::kCommandLine:
      break;
  }
  return absl::StrCat("--input ", input, "=FILE");
}

}  // namespace attune
