#include "tune/task/codec.h"

#include <cstdint>
#include <utility>

#include "base/process/message_checks.h"
#include "base/status.h"
#include "graph/text.h"
#include "measure/codec.h"
#include "target/codec.h"
#include "tune/task/build.pb.h"

namespace attune {
namespace {

namespace proto = build_proto;

constexpr int kMaxInputs = 4096, kMaxConfigNumbers = 256;
constexpr int64_t kMaxReasonBytes = 8 << 10, kMaxNameBytes = 256;

}  // namespace

std::string EncodeBuildSetUp(const BuildSetUp& set_up) {
  proto::SetUp message;
  message.set_version(kBuildVersion);
  message.set_seconds_limit(set_up.seconds_limit);
  message.set_target(EncodeTarget(set_up.target));
  return message.SerializeAsString();
}

absl::StatusOr<BuildSetUp> DecodeBuildSetUp(std::string_view text) {
  ASSIGN_OR_RETURN(const proto::SetUp message, ParseRequest<proto::SetUp>(text, kBuildVersion));
  MessageChecks checks;
  BuildSetUp set_up;
  ASSIGN_OR_RETURN(set_up.target, DecodeTarget(message.target()));
  set_up.seconds_limit = checks.Seconds(message.seconds_limit());
  RETURN_IF_ERROR(checks.Finish());
  return set_up;
}

std::string EncodeBuildRequest(const BuildRequest& request) {
  proto::Request message;
  message.set_version(kBuildVersion);
  message.set_region(Print(*request.task->region));
  for (const int input : request.task->constant_inputs) message.add_constant_inputs(input);
  message.set_strategy(request.candidate.strategy);
  for (const auto& [name, value] : request.candidate.config) {
    proto::Request::Knob* knob = message.add_config();
    knob->set_name(name);
    knob->set_value(value);
  }
  return message.SerializeAsString();
}

absl::StatusOr<DecodedBuildRequest> DecodeBuildRequest(std::string_view text) {
  ASSIGN_OR_RETURN(const proto::Request message, ParseRequest<proto::Request>(text, kBuildVersion));
  MessageChecks checks;
  checks.Count(message.constant_inputs_size(), kMaxInputs);
  checks.Count(message.config_size(), kMaxConfigNumbers);
  checks.Count(std::ssize(message.strategy()), kMaxNameBytes);
  DecodedBuildRequest request;
  for (const int input : message.constant_inputs())
    request.task.constant_inputs.insert(checks.Int(input, 0, kMaxInputs - 1));
  RETURN_IF_ERROR(checks.Finish());
  request.candidate.strategy = message.strategy();
  for (const proto::Request::Knob& knob : message.config())
    request.candidate.config[knob.name()] = knob.value();
  ASSIGN_OR_RETURN(request.task.region, ParseGraph(message.region()));
  return request;
}

std::string EncodeBuildResult(const BuildResult& result) {
  proto::Result message;
  message.set_outcome(static_cast<uint32_t>(result.outcome));
  message.set_reason(result.reason.substr(0, static_cast<size_t>(kMaxReasonBytes)));
  message.set_seconds(result.seconds);
  if (result.outcome == TrialOutcome::kOk) message.set_kernel(EncodeKernel(result.kernel));
  return message.SerializeAsString();
}

absl::StatusOr<BuildResult> DecodeBuildResult(std::string_view text) {
  ASSIGN_OR_RETURN(const proto::Result message, ParseMessage<proto::Result>(text));
  MessageChecks checks;
  BuildResult result;
  result.outcome = checks.OneOf(message.outcome(), TrialOutcome::kRetry);
  checks.Count(std::ssize(message.reason()), kMaxReasonBytes);
  result.reason = message.reason();
  result.seconds = checks.Seconds(message.seconds());
  RETURN_IF_ERROR(checks.Finish());
  if (result.outcome == TrialOutcome::kOk) {
    ASSIGN_OR_RETURN(result.kernel, DecodeKernel(message.kernel()));
  }
  return result;
}

}  // namespace attune
