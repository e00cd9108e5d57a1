#include "fleet/host/host_messages.h"

#include <iterator>
#include <utility>

#include "base/overloaded.h"
#include "base/process/message_checks.h"
#include "base/processor_set.h"
#include "base/status.h"
#include "device/codec.h"
#include "fleet/host/host.pb.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr int kMaxLacks = 16, kMaxLackBytes = 1024;
constexpr int kMaxBlobs = 3;  // of one item

int64_t DecodeNumber(int64_t number, MessageChecks& checks) { return checks.Integer(number, 0, INT64_MAX); }

// A digest that is not empty.
std::string DecodeDigest(const std::string& digest, MessageChecks& checks) {
  checks.Integer(std::ssize(digest), 1, MessageChecks::kDigestBytes);
  return checks.Digest(digest);
}

std::vector<int> DecodeProcessors(const google::protobuf::RepeatedField<int32_t>& from,
                                  MessageChecks& checks) {
  checks.Count(from.size(), kMaxProcessors);
  std::vector<int> processors;
  for (const int processor : from) processors.push_back(checks.Int(processor, 0, kMaxProcessors - 1));
  return processors;
}

void Encode(const RunBatch& run, proto::RunBatch* to) {
  to->set_number(run.number);
  for (const HostItem& item : run.items) {
    proto::HostItem* added = to->add_items();
    added->set_index(item.index);
    added->set_request(EncodeWorkerRequest(item.item));
  }
}

absl::StatusOr<RunBatch> Decode(const proto::RunBatch& from, MessageChecks& checks) {
  RunBatch run = {.number = DecodeNumber(from.number(), checks)};
  checks.Count(from.items_size(), kMaxBatchItems);
  RETURN_IF_ERROR(checks.Finish());
  for (const proto::HostItem& item : from.items()) {
    ASSIGN_OR_RETURN(WorkerRequest request, DecodeWorkerRequest(item.request()));
    auto* const decoded = std::get_if<MeasureItem>(&request);
    if (decoded == nullptr) return DamagedMessage();
    run.items.push_back({DecodeNumber(item.index(), checks), std::move(*decoded)});
  }
  return run;
}

void Encode(const HostReady& ready, proto::HostReady* to) {
  to->set_device(EncodeDevice(ready.device));
  to->mutable_lacks()->Add(ready.lacks.begin(), ready.lacks.end());
}

absl::StatusOr<HostReady> Decode(const proto::HostReady& from, MessageChecks& checks) {
  HostReady ready;
  ASSIGN_OR_RETURN(ready.device, DecodeDevice(from.device()));
  checks.Count(from.lacks_size(), kMaxLacks);
  for (const std::string& lack : from.lacks()) ready.lacks.push_back(checks.Line(lack, 1, kMaxLackBytes));
  return ready;
}

void Encode(const HostLeased& leased, proto::HostLeased* to) {
  to->set_number(leased.number);
  to->set_exclusive(leased.is_exclusive);
  to->mutable_processors()->Add(leased.processors.begin(), leased.processors.end());
  to->mutable_isolated()->Add(leased.isolated.begin(), leased.isolated.end());
}

HostLeased Decode(const proto::HostLeased& from, MessageChecks& checks) {
  return {.number = DecodeNumber(from.number(), checks),
          .is_exclusive = from.exclusive(),
          .processors = DecodeProcessors(from.processors(), checks),
          .isolated = DecodeProcessors(from.isolated(), checks)};
}

void Encode(const HostResult& result, proto::HostResult* to) {
  to->set_number(result.number);
  to->set_index(result.index);
  to->set_measurement(EncodeMeasurement(result.measurement));
  to->mutable_missing()->Add(result.missing.begin(), result.missing.end());
}

absl::StatusOr<HostResult> Decode(const proto::HostResult& from, MessageChecks& checks) {
  HostResult result = {.number = DecodeNumber(from.number(), checks),
                       .index = DecodeNumber(from.index(), checks)};
  ASSIGN_OR_RETURN(result.measurement, DecodeMeasurement(from.measurement()));
  checks.Count(from.missing_size(), kMaxBlobs);
  for (const std::string& digest : from.missing()) result.missing.push_back(DecodeDigest(digest, checks));
  return result;
}

}  // namespace

std::string EncodeHostCommand(const HostCommand& command) {
  proto::HostCommand message;
  message.set_version(kDeviceHostVersion);
  std::visit(Overloaded{[&](const NewBlob& blob) { message.set_blob(blob.digest); },
                        [&](const ForgetBlob& blob) { message.set_forget(blob.digest); },
                        [&](const RunBatch& run) { Encode(run, message.mutable_run()); },
                        [&](const CancelBatch& cancel) { message.set_cancel(cancel.number); }},
             command);
  return message.SerializeAsString();
}

absl::StatusOr<HostCommand> DecodeHostCommand(std::string_view text) {
  ASSIGN_OR_RETURN(const proto::HostCommand message,
                   ParseRequest<proto::HostCommand>(text, kDeviceHostVersion));
  MessageChecks checks;
  HostCommand command;
  if (message.has_blob()) {
    command = NewBlob{DecodeDigest(message.blob(), checks)};
  } else if (message.has_forget()) {
    command = ForgetBlob{DecodeDigest(message.forget(), checks)};
  } else if (message.has_run()) {
    ASSIGN_OR_RETURN(command, Decode(message.run(), checks));
  } else if (message.has_cancel()) {
    command = CancelBatch{DecodeNumber(message.cancel(), checks)};
  } else {
    return DamagedMessage();
  }
  RETURN_IF_ERROR(checks.Finish());
  return command;
}

std::string EncodeHostReport(const HostReport& report) {
  proto::HostReport message;
  message.set_version(kDeviceHostVersion);
  std::visit(Overloaded{[&](const HostReady& ready) { Encode(ready, message.mutable_ready()); },
                        [&](const HostLeased& leased) { Encode(leased, message.mutable_leased()); },
                        [&](const HostResult& result) { Encode(result, message.mutable_result()); },
                        [&](const HostBatchOver& over) { message.set_over(over.number); },
                        [&](const HostAlive&) { message.mutable_alive(); }},
             report);
  return message.SerializeAsString();
}

absl::StatusOr<HostReport> DecodeHostReport(std::string_view text) {
  ASSIGN_OR_RETURN(const proto::HostReport message,
                   ParseRequest<proto::HostReport>(text, kDeviceHostVersion));
  MessageChecks checks;
  HostReport report;
  if (message.has_ready()) {
    ASSIGN_OR_RETURN(report, Decode(message.ready(), checks));
  } else if (message.has_leased()) {
    report = Decode(message.leased(), checks);
  } else if (message.has_result()) {
    ASSIGN_OR_RETURN(report, Decode(message.result(), checks));
  } else if (message.has_over()) {
    report = HostBatchOver{DecodeNumber(message.over(), checks)};
  } else if (message.has_alive()) {
    report = HostAlive{};
  } else {
    return DamagedMessage();
  }
  RETURN_IF_ERROR(checks.Finish());
  return report;
}

}  // namespace attune
