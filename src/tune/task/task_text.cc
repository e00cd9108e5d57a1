// Describes a printed graph by reading its text, without parsing the graph: the content of a table must not
// depend on whether a later version still parses it.
#include "tune/task/task_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file.h"

namespace attune {
namespace {

constexpr size_t kMaxParts = 16;

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// The text after the last ": " of a line.
std::string_view TypeAtEnd(std::string_view line) {
  const size_t colon = line.rfind(": ");
  return colon == std::string_view::npos ? "" : line.substr(colon + 2);
}

// The types in "graph @name(%x: f32[1,8], %w: f32[8]) {".
std::vector<std::string> InputTypes(std::string_view header) {
  std::vector<std::string> types;
  header = header.substr(0, header.rfind(')'));
  for (absl::string_view input : absl::StrSplit(header, '%')) {
    const std::string_view type = TypeAtEnd(Trim(absl::StripSuffix(Trim(input), ",")));
    if (!type.empty() && types.size() < kMaxParts) types.emplace_back(type);
  }
  return types;
}

// The "conv" in "%y = conv(%x, %w) {…} : f32[1,8]".
std::string_view Operator(std::string_view line) {
  const size_t equals = line.find(" = ");
  const size_t parenthesis = line.find('(', equals);
  if (equals == std::string_view::npos || parenthesis == std::string_view::npos) return "";
  const std::string_view name = line.substr(equals + 3, parenthesis - equals - 3);
  const bool is_word = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  return is_word && name != "constant" ? name : "";
}

std::string DescribeGraph(const std::vector<std::string_view>& lines) {
  std::vector<std::string_view> operators;
  std::string_view output;
  for (std::string_view line : lines) {
    const std::string_view name = Operator(Trim(line));
    if (name.empty()) continue;
    if (operators.size() < kMaxParts) operators.push_back(name);
    output = TypeAtEnd(Trim(line));
  }
  return absl::StrCat(absl::StrJoin(operators, "+"), " ", absl::StrJoin(InputTypes(lines[0]), " "), " -> ",
                      output);
}

}  // namespace

std::string TaskDigest(std::string_view task) { return Sha256Hex(task); }

std::string DescribeTask(std::string_view task, size_t max_bytes) {
  std::vector<std::string_view> lines;
  for (absl::string_view line : absl::StrSplit(task, '\n')) lines.push_back(line);
  const bool is_graph = lines[0].starts_with("graph") && lines[0].ends_with("{");
  std::string text = is_graph ? DescribeGraph(lines) : std::string(lines[0].substr(0, max_bytes + 1));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; },
      '?');
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes - sizeof("…") + 1;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // not inside a character
  return text.substr(0, end) + "…";
}

}  // namespace attune
