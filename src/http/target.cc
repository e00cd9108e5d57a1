#include "http/target.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace attune {
namespace {

bool IsName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && std::ranges::none_of(name, [](char c) {
    return absl::ascii_iscntrl(static_cast<unsigned char>(c));
  });
}

// One name, or several with escaped slashes between them.
bool IsPart(std::string_view part) {
  return std::ranges::all_of(std::vector<std::string_view>(absl::StrSplit(part, '/')), IsName);
}

std::optional<std::string> DecodeQuery(std::string_view text) {
  return DecodePercent(absl::StrReplaceAll(text, {{"+", " "}}));
}

}  // namespace

std::optional<std::string> DecodePercent(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const std::string_view digits = text.substr(i + 1, 2);
    if (!std::ranges::all_of(digits,
                             [](char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); }))
      return std::nullopt;
    decoded += absl::HexStringToBytes(digits);
    i += 2;
  }
  return decoded;
}

std::optional<HttpTarget> ParseTarget(std::string_view target) {
  const std::pair<std::string_view, std::string_view> halves =
      absl::StrSplit(target, absl::MaxSplits('?', 1));
  HttpTarget parsed = {.path = std::string(halves.first)};
  std::string_view path = halves.first;
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty()) {
    for (const std::string_view text : absl::StrSplit(path, '/')) {
      std::optional<std::string> part = DecodePercent(text);
      if (!part || !IsPart(*part)) return std::nullopt;
      parsed.parts.push_back(*std::move(part));
    }
  }
  for (const std::string_view text : absl::StrSplit(halves.second, '&', absl::SkipEmpty())) {
    const std::pair<std::string_view, std::string_view> pair = absl::StrSplit(text, absl::MaxSplits('=', 1));
    std::optional<std::string> name = DecodeQuery(pair.first), value = DecodeQuery(pair.second);
    if (!name || !value) return std::nullopt;
    parsed.query[*std::move(name)] = *std::move(value);
  }
  return parsed;
}

}  // namespace attune
