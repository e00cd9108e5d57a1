#include "device/codec.h"

#include <cstdint>
#include <iterator>

#include "base/process/message_checks.h"
#include "base/processor_set.h"
#include "base/status.h"
#include "device/device.pb.h"
#include "target/codec.h"

namespace attune {
namespace {

constexpr int64_t kMaxFingerprintBytes = 1024;

}  // namespace

std::string EncodeDevice(const DeviceInfo& device) {
  device_proto::Device message;
  message.set_fingerprint(device.fingerprint);
  message.set_target(EncodeTarget(device.target));
  for (const int number : device.usable) message.add_usable(number);
  for (const Processor& processor : device.processors) {
    device_proto::Device::Processor* added = message.add_processors();
    added->set_number(processor.number);
    added->set_core(processor.core);
    added->set_cache(processor.cache);
  }
  return message.SerializeAsString();
}

absl::StatusOr<DeviceInfo> DecodeDevice(std::string_view text) {
  ASSIGN_OR_RETURN(const device_proto::Device message, ParseMessage<device_proto::Device>(text));
  MessageChecks checks;
  checks.Line(message.fingerprint(), 1, kMaxFingerprintBytes);
  checks.Integer(message.processors_size(), 1, kMaxProcessors);
  checks.Integer(message.usable_size(), 1, message.processors_size());
  RETURN_IF_ERROR(checks.Finish());
  DeviceInfo device = {.fingerprint = message.fingerprint(), .target = {}, .usable = {}, .processors = {}};
  ASSIGN_OR_RETURN(device.target, DecodeTarget(message.target()));
  const auto number = [&](int value) { return checks.Int(value, 0, kMaxProcessors - 1); };
  auto usable = message.usable().begin();
  int last = -1;
  for (const device_proto::Device::Processor& from : message.processors()) {
    const Processor processor = {
        .number = number(from.number()), .core = number(from.core()), .cache = number(from.cache())};
    checks.Integer(processor.number, last + 1, kMaxProcessors - 1);
    last = processor.number;
    device.processors.push_back(processor);
    if (usable == message.usable().end() || *usable != processor.number) continue;
    device.usable.push_back(processor.number);
    ++usable;
  }
  checks.Integer(std::ssize(device.usable), message.usable_size(), message.usable_size());
  RETURN_IF_ERROR(checks.Finish());
  return device;
}

}  // namespace attune
