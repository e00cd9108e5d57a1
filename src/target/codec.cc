#include "target/codec.h"

#include <cstdint>

#include "base/process/message_checks.h"
#include "base/status.h"
#include "target/target.pb.h"

namespace attune {
namespace {

constexpr int64_t kMaxCacheBytes = int64_t{1} << 40;
constexpr int kMaxCores = 1 << 16, kMaxFeatures = 1024, kMaxFeatureBytes = 256;

}  // namespace

std::string EncodeTarget(const Target& target) {
  target_proto::Target message;
  message.set_name(target.name);
  message.set_l1_bytes(target.l1_bytes);
  message.set_l2_bytes(target.l2_bytes);
  message.set_l3_bytes(target.l3_bytes);
  message.set_cores(target.cores);
  for (const std::string& feature : target.modelled_features) message.add_modelled_features(feature);
  return message.SerializeAsString();
}

absl::StatusOr<Target> DecodeTarget(std::string_view text) {
  ASSIGN_OR_RETURN(const target_proto::Target message, ParseMessage<target_proto::Target>(text));
  MessageChecks checks;
  checks.Line(message.name(), 1, kMaxFeatureBytes);  // an error repeats it
  RETURN_IF_ERROR(checks.Finish());
  ASSIGN_OR_RETURN(Target target, TargetByName(message.name()));
  target.l1_bytes = checks.Integer(message.l1_bytes(), 0, kMaxCacheBytes);
  target.l2_bytes = checks.Integer(message.l2_bytes(), 0, kMaxCacheBytes);
  target.l3_bytes = checks.Integer(message.l3_bytes(), 0, kMaxCacheBytes);
  target.cores = checks.Int(message.cores(), 1, kMaxCores);
  checks.Count(message.modelled_features_size(), kMaxFeatures);
  for (const std::string& feature : message.modelled_features())
    target.modelled_features.push_back(checks.Line(feature, 1, kMaxFeatureBytes));
  RETURN_IF_ERROR(checks.Finish());
  return target;
}

}  // namespace attune
