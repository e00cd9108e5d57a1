// Traces of jobs, as OpenTelemetry has them.
#ifndef ATTUNE_SERVICE_REST_TRACE_H_
#define ATTUNE_SERVICE_REST_TRACE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/json_schema.h"
#include "service/wire/jobs.pb.h"

namespace attune {

// The trace of a job: the same for each caller, also after the job is over.
std::string TraceIdOf(const jobs_service_proto::Job& job);

// The job's spans in OTLP/JSON: from its submission over waiting and stages to its end, or until now.
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
JsonSchema TraceOfJob(const jobs_service_proto::JobDetail& detail, int64_t now_ms);

// The trace that a request belongs to: https://www.w3.org/TR/trace-context/
struct RequestTrace {
  std::string trace = {};  // 32 hexadecimal digits
  std::string span = {};   // 16, of the request's answer

  // The value of the header traceparent, by which others continue the trace.
  std::string Parent() const;
};

// Continues the trace of a traceparent; an invalid or empty one begins a new trace.
absl::StatusOr<RequestTrace> TraceOf(std::string_view traceparent);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_TRACE_H_
