#include "service/rest/trace.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status.h"
#include "service/access/access.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr size_t kTraceDigits = 32, kSpanDigits = 16;
constexpr int kInternal = 1, kOk = 1, kError = 2;  // SpanKind and StatusCode

std::string Nanoseconds(double ms) {
  constexpr double kNanoseconds = 1e6;
  return absl::StrCat(static_cast<int64_t>(std::max(0.0, ms) * kNanoseconds));
}

JsonSchema SpanAttribute(const char* key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

// The spans of one job.
class Spans {
 public:
  explicit Spans(std::string trace) : trace_(std::move(trace)) {}

  // Returns the span's id.
  std::string Add(const std::string& name, double begin_ms, double end_ms, const std::string& parent,
                  const JsonSchema& attributes, const std::string& error) {
    const std::string id = Sha256Hex(absl::StrCat(trace_, "\n", spans_.size())).substr(0, kSpanDigits);
    JsonSchema span = {{"traceId", trace_}, {"spanId", id}};
    if (!parent.empty()) span["parentSpanId"] = parent;
    span["name"] = name;
    span["kind"] = kInternal;
    span["startTimeUnixNano"] = Nanoseconds(begin_ms);
    span["endTimeUnixNano"] = Nanoseconds(end_ms);
    span["attributes"] = attributes;
    span["status"] = {{"code", kOk}};
    if (!error.empty()) span["status"] = {{"code", kError}, {"message", error}};
    spans_.push_back(std::move(span));
    return id;
  }
  const JsonSchema& spans() const { return spans_; }

 private:
  const std::string trace_;
  JsonSchema spans_ = JsonSchema::array();
};

void AddStage(const proto::StageOfJob& stage, const std::string& parent, Spans& spans) {
  constexpr double kMs = 1000;
  const auto end = static_cast<double>(stage.end_ms());
  const double begin = end - stage.seconds() * kMs;
  if (stage.waited_seconds() > 0)
    spans.Add(absl::StrCat("wait for ", stage.name()), begin - stage.waited_seconds() * kMs, begin, parent,
              JsonSchema::array(), "");
  const bool is_done = stage.outcome() == "done";
  spans.Add(
      stage.name(), begin, end, parent,
      {SpanAttribute("attune.runner", stage.runner()), SpanAttribute("attune.outcome", stage.outcome())},
      is_done ? "" : absl::StrCat(stage.outcome(), ": ", stage.reason()));
}

bool IsId(std::string_view text) {
  const auto is_digit = [](unsigned char c) { return absl::ascii_isxdigit(c) && !absl::ascii_isupper(c); };
  return std::ranges::all_of(text, is_digit) && text.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

std::string TraceIdOf(const proto::Job& job) {
  return Sha256Hex(absl::StrCat("trace\n", job.owner(), "\n", job.id(), "\n", job.submitted_ms()))
      .substr(0, kTraceDigits);
}

JsonSchema TraceOfJob(const proto::JobDetail& detail, int64_t now_ms) {
  const proto::Job& job = detail.job();
  Spans spans(TraceIdOf(job));
  const int64_t end = job.ended_ms() > 0 ? job.ended_ms() : now_ms;
  const std::string root = spans.Add(
      absl::StrCat("job ", job.id()), static_cast<double>(job.submitted_ms()), static_cast<double>(end), "",
      {SpanAttribute("attune.job", job.id()), SpanAttribute("attune.kind", job.kind()),
       SpanAttribute("attune.state", job.state()), SpanAttribute("attune.on", job.on())},
      job.error());
  for (const proto::StageOfJob& stage : detail.stages()) AddStage(stage, root, spans);
  const JsonSchema resource = {{"attributes", {SpanAttribute("service.name", "attune")}}};
  const JsonSchema scope = {{"scope", {{"name", "attune.jobs"}}}, {"spans", spans.spans()}};
  return {{"resourceSpans", {{{"resource", resource}, {"scopeSpans", {scope}}}}}};
}

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
