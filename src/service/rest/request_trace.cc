#include "service/rest/request_trace.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "service/access/access.h"

namespace attune {
namespace {

constexpr size_t kTraceDigits = 32, kSpanDigits = 16;

bool IsId(std::string_view text) {
  const auto is_digit = [](unsigned char c) { return absl::ascii_isxdigit(c) && !absl::ascii_isupper(c); };
  return std::ranges::all_of(text, is_digit) && text.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

std::string RequestTrace::Parent() const { return absl::StrCat("00-", trace, "-", span, "-01"); }

absl::StatusOr<RequestTrace> TraceOf(std::string_view traceparent) {
  constexpr size_t kVersionDigits = 2, kLength = 55;
  constexpr size_t kTraceAt = kVersionDigits + 1, kSpanAt = kTraceAt + kTraceDigits + 1;
  RequestTrace trace;
  ASSIGN_OR_RETURN(trace.span, NewId());
  trace.span.resize(kSpanDigits);
  const bool is_known = traceparent.size() == kLength && traceparent.starts_with("00-") &&
                        IsId(traceparent.substr(kTraceAt, kTraceDigits)) && traceparent[kSpanAt - 1] == '-' &&
                        IsId(traceparent.substr(kSpanAt, kSpanDigits));
  if (is_known) {
    trace.trace = traceparent.substr(kTraceAt, kTraceDigits);
  } else {
    ASSIGN_OR_RETURN(trace.trace, NewId());
  }
  return trace;
}

}  // namespace attune
