#include "tune/task/codec.h"

#include <utility>

#include "base/process/message.h"
#include "base/status.h"
#include "graph/text.h"
#include "measure/codec.h"
#include "tune/task/build.pb.h"

namespace attune {
namespace {

namespace proto = build_proto;

constexpr int kMaxInputs = 4096, kMaxConfigNumbers = 256;
constexpr size_t kMaxReasonBytes = 8 << 10, kMaxNameBytes = 256;
constexpr double kMaxSeconds = 1e9;

absl::Status Damaged() { return absl::DataLossError("a damaged message"); }

template <typename Message>
absl::StatusOr<Message> Parse(std::string_view text) {
  Message message;
  const bool fits = text.size() <= kMaxMessageBytes;
  if (!fits || !message.ParseFromArray(text.data(), static_cast<int>(text.size()))) return Damaged();
  return message;
}

bool IsSeconds(double value) { return value >= 0 && value <= kMaxSeconds; }

absl::Status CheckVersion(uint32_t version) {
  if (version == kBuildVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("a request of version ", version, ", this program's is ", kBuildVersion));
}

}  // namespace

std::string EncodeBuildSetUp(const BuildSetUp& set_up) {
  proto::SetUp message;
  message.set_version(kBuildVersion);
  message.set_seconds_limit(set_up.seconds_limit);
  proto::Target* target = message.mutable_target();
  target->set_name(set_up.target.name);
  target->set_l1_bytes(set_up.target.l1_bytes);
  target->set_l2_bytes(set_up.target.l2_bytes);
  target->set_l3_bytes(set_up.target.l3_bytes);
  target->set_cores(set_up.target.cores);
  for (const std::string& feature : set_up.target.modelled_features) target->add_modelled_features(feature);
  return message.SerializeAsString();
}

absl::StatusOr<BuildSetUp> DecodeBuildSetUp(std::string_view text) {
  ASSIGN_OR_RETURN(const proto::SetUp message, Parse<proto::SetUp>(text));
  RETURN_IF_ERROR(CheckVersion(message.version()));
  const proto::Target& from = message.target();
  BuildSetUp set_up;
  ASSIGN_OR_RETURN(set_up.target, TargetByName(from.name()));
  set_up.seconds_limit = message.seconds_limit();
  set_up.target.l1_bytes = from.l1_bytes();
  set_up.target.l2_bytes = from.l2_bytes();
  set_up.target.l3_bytes = from.l3_bytes();
  set_up.target.cores = from.cores();
  for (const std::string& feature : from.modelled_features())
    set_up.target.modelled_features.push_back(feature);
  const bool is_sane = IsSeconds(set_up.seconds_limit) && from.l1_bytes() >= 0 && from.l2_bytes() >= 0 &&
                       from.l3_bytes() >= 0 && from.cores() > 0;
  if (!is_sane) return Damaged();
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
  ASSIGN_OR_RETURN(const proto::Request message, Parse<proto::Request>(text));
  RETURN_IF_ERROR(CheckVersion(message.version()));
  if (message.constant_inputs_size() > kMaxInputs || message.config_size() > kMaxConfigNumbers ||
      message.strategy().size() > kMaxNameBytes) {
    return Damaged();
  }
  DecodedBuildRequest request;
  for (const int input : message.constant_inputs()) {
    if (input < 0 || input >= kMaxInputs) return Damaged();
    request.task.constant_inputs.insert(input);
  }
  request.candidate.strategy = message.strategy();
  for (const proto::Request::Knob& knob : message.config())
    request.candidate.config[knob.name()] = knob.value();
  ASSIGN_OR_RETURN(request.task.region, ParseGraph(message.region()));
  return request;
}

std::string EncodeBuildResult(const BuildResult& result) {
  proto::Result message;
  message.set_outcome(static_cast<uint32_t>(result.outcome));
  message.set_reason(result.reason.substr(0, kMaxReasonBytes));
  message.set_seconds(result.seconds);
  if (result.outcome == TrialOutcome::kOk) message.set_kernel(EncodeKernel(result.kernel));
  return message.SerializeAsString();
}

absl::StatusOr<BuildResult> DecodeBuildResult(std::string_view text) {
  ASSIGN_OR_RETURN(const proto::Result message, Parse<proto::Result>(text));
  if (message.outcome() > static_cast<uint32_t>(TrialOutcome::kRetry) || !IsSeconds(message.seconds()) ||
      message.reason().size() > kMaxReasonBytes) {
    return Damaged();
  }
  BuildResult result;
  result.outcome = static_cast<TrialOutcome>(message.outcome());
  result.reason = message.reason();
  result.seconds = message.seconds();
  if (result.outcome == TrialOutcome::kOk) {
    ASSIGN_OR_RETURN(result.kernel, DecodeKernel(message.kernel()));
  }
  return result;
}

}  // namespace attune
