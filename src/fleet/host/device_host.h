// The device host as its agent sees it: measures batches on one device, and says what becomes of them.
//
// Problem: an agent is a gRPC process with threads and with credentials, and measuring forks processes, which
// run strangers' code. Idea: the agent starts one helper process before anything else, the device host, which
// has no credentials and makes all further processes. The agent knows it by this interface alone, so that a
// mock can take its place. Price: blobs and results pass through one more process.
#ifndef ATTUNE_FLEET_HOST_DEVICE_HOST_H_
#define ATTUNE_FLEET_HOST_DEVICE_HOST_H_

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "device/device.h"
#include "fleet/host/host_messages.h"

namespace attune {

// About the time in seconds between two events HostAlive.
inline constexpr double kHostBeatSeconds = 1;

// The host has ended, or has sent nonsense and was ended. It is the last event, and the results of all
// batches that were not over are lost.
struct HostLost {
  std::string reason = {};
};

// Each batch gets at most one HostLeased, one HostResult for each item in any order, and one HostBatchOver.
using HostEvent = std::variant<HostLeased, HostResult, HostBatchOver, HostAlive, HostLost>;
// Called by one thread of the host's, possibly before the host's maker has returned. It may call all
// functions of the host but its destructor.
using OnHostEvent = std::function<void(const HostEvent&)>;

// Thread safe. If the host is lost, calls do nothing. The destructor ends the host; no event comes after it
// has returned.
class DeviceHost {
 public:
  virtual ~DeviceHost() = default;

  virtual const DeviceInfo& device() const = 0;
  // The fences around measured code that this machine cannot give (base/process/sandbox.h), as sentences.
  virtual const std::vector<std::string>& lacks() const = 0;

  // Gives the host a blob: it reads `file` from its beginning, and drops bytes that do not have the digest,
  // or of which there are too many. It keeps the most recently used blobs.
  virtual void Put(const std::string& digest, int file) = 0;
  // The blob is of no more use, apart from a batch that has begun.
  virtual void Forget(const std::string& digest) = 0;
  // Batches run in the order in which they come. An item whose blobs the host lacks at that time ends with
  // kRetry, and its result names them.
  virtual void Run(RunBatch batch) = 0;
  // Items that have not been started end with kRetry. Does nothing if the batch is over.
  virtual void Cancel(int64_t number) = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_HOST_DEVICE_HOST_H_
