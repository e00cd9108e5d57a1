// The commands to a device host, and its reports, as messages (host.proto). Decoding is safe for any bytes:
// the values are in range, and their memory is bounded by the message's size.
#ifndef ATTUNE_FLEET_HOST_HOST_MESSAGES_H_
#define ATTUNE_FLEET_HOST_HOST_MESSAGES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "measure/codec.h"
#include "measure/item.h"

namespace attune {

// Increases with each change that the other side would misunderstand.
inline constexpr uint32_t kDeviceHostVersion = 1;
inline constexpr int kMaxBatchItems = 4096;

// An item of a batch.
struct HostItem {
  int64_t index = 0;      // >= 0; its result has the same
  MeasureItem item = {};  // its processors do not count: the host leases some
};
// Batches run one after the other, in the order in which they come.
struct RunBatch {
  int64_t number = 0;                // >= 0, another one for each batch
  std::vector<HostItem> items = {};  // at most kMaxBatchItems, each with another index
};
// Items of the batch that have not been started are not measured. Does nothing once the batch is over.
struct CancelBatch {
  int64_t number = 0;
};
using HostCommand = std::variant<NewBlob, ForgetBlob, RunBatch, CancelBatch>;

// The first report of each host.
struct HostReady {
  DeviceInfo device = {};
  std::vector<std::string> lacks = {};  // the fences around measured code that it cannot give, as sentences
};
// The batch has got its processors, until it is over.
struct HostLeased {
  int64_t number = 0;
  bool is_exclusive = false;         // no other work may use the processors
  std::vector<int> processors = {};  // that it measures on
  std::vector<int> isolated = {};    // others, that are to stay free
};
struct HostResult {
  int64_t number = 0;  // of the batch
  int64_t index = 0;   // of the item
  Measurement measurement = {};
  std::vector<std::string> missing = {};  // digests of the blobs that the host lacks; the outcome is kRetry
};
// All results of the batch have been sent.
struct HostBatchOver {
  int64_t number = 0;
};
// The host continues, or waits.
struct HostAlive {};
using HostReport = std::variant<HostReady, HostLeased, HostResult, HostBatchOver, HostAlive>;

std::string EncodeHostCommand(const HostCommand& command);
absl::StatusOr<HostCommand> DecodeHostCommand(std::string_view message);
std::string EncodeHostReport(const HostReport& report);
absl::StatusOr<HostReport> DecodeHostReport(std::string_view message);

}  // namespace attune

#endif  // ATTUNE_FLEET_HOST_HOST_MESSAGES_H_
