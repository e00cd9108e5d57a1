#include "http/file_response.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "http/problem.h"

namespace attune {
namespace {

struct Range {
  int64_t begin = 0, end = 0;
};

// Digits alone: no sign, no space.
std::optional<int64_t> Number(std::string_view text) {
  int64_t number = 0;
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos &&
                         absl::SimpleAtoi(text, &number);
  return is_number ? std::optional<int64_t>(number) : std::nullopt;
}

// Nothing if the request asks for no range, or in a way that need not be understood. One without bytes is
// none of the file's.
std::optional<Range> RangeOf(const HttpRequest& request, int64_t bytes, std::string_view tag) {
  absl::string_view text = request.Header("range");
  // The rest of another file would not fit what the peer has.
  const std::string_view wanted = request.Header("if-range");
  if ((!wanted.empty() && wanted != tag) || !absl::ConsumePrefix(&text, "bytes=")) return std::nullopt;
  const std::pair<std::string_view, std::string_view> ends = absl::StrSplit(text, absl::MaxSplits('-', 1));
  const std::optional<int64_t> first = Number(ends.first), last = Number(ends.second);
  if (text.find('-') == std::string_view::npos) return std::nullopt;
  if (ends.first.empty() && last) return Range{std::max<int64_t>(0, bytes - *last), bytes};
  if (!first || (!last && !ends.second.empty()) || (last && *last < *first)) return std::nullopt;
  return Range{*first, last && *last < bytes ? *last + 1 : bytes};
}

}  // namespace

HttpResponse FileResponse(const HttpRequest& request, HttpFile file, HttpResponse response) {
  constexpr int kPartial = 206, kNotModified = 304, kNotSatisfiable = 416;
  response.headers["Accept-Ranges"] = "bytes";
  std::string tag;
  if (!file.sha256.empty()) {
    tag = absl::StrCat("\"", file.sha256, "\"");
    response.headers["ETag"] = tag;
    response.headers["Repr-Digest"] =
        absl::StrCat("sha-256=:", absl::Base64Escape(absl::HexStringToBytes(file.sha256)), ":");
    if (IsTagAmong(request.Header("if-none-match"), tag)) {
      response.status = kNotModified;
      return response;
    }
  }
  if (const std::optional<Range> range = RangeOf(request, file.bytes, tag)) {
    if (range->begin >= range->end) {
      HttpResponse problem = Problem(kNotSatisfiable, absl::StrCat("the file has ", file.bytes, " bytes"));
      problem.headers["Content-Range"] = absl::StrCat("bytes */", file.bytes);
      return problem;
    }
    response.status = kPartial;
    response.headers["Content-Range"] =
        absl::StrCat("bytes ", range->begin, "-", range->end - 1, "/", file.bytes);
    file.offset = range->begin;
    file.bytes = range->end - range->begin;
    file.sha256.clear();
  }
  response.file = std::move(file);
  return response;
}

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
