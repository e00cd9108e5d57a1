// The interface to services that measure, on this machine or elsewhere.
//
// Problem: measuring takes most of the time of tuning, needs a device for itself, runs code that crashes and
// hangs, and may happen on another machine. Idea: a client submits a batch of items and continues; results
// come one by one. Large data (code, reference data, artifacts) is in blobs, which have a digest and are sent
// once. Checking, which needs no quiet device, is separate from timing.
#ifndef ATTUNE_MEASURE_SERVICE_H_
#define ATTUNE_MEASURE_SERVICE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/process/message.h"
#include "device/device.h"
#include "measure/blob.h"
#include "measure/item.h"

namespace attune {

// A submitted batch. For one thread at a time. The destructor cancels it; afterwards nothing runs on its
// behalf.
class MeasureBatch {
 public:
  virtual ~MeasureBatch() = default;

  // Waits for the next result, of any item, and returns the item's index and its measurement. Returns
  // nothing if none has come by the deadline, or if all have come.
  virtual std::optional<std::pair<size_t, Measurement>> Next(Deadline deadline) = 0;
  // Whether Next() has returned all results.
  virtual bool is_over() const = 0;
  // Items that have not been started are not measured: their outcome is kRetry.
  virtual void Cancel() = 0;
  // Seconds since the service last gave a sign of life about this batch.
  virtual double SecondsSinceHeartbeat() const = 0;
};

// Thread safe. Each service measures on one device; there may be many services.
class MeasuringService {
 public:
  virtual ~MeasuringService() = default;

  virtual const DeviceInfo& device() const = 0;

  // Whether the service still has a blob: it may forget blobs that have not been used for long.
  virtual bool Has(const std::string& digest) const = 0;
  virtual absl::Status Put(const Blob& blob) = 0;

  // Measures all items; exclusive ones one after the other, in their order. The caller must hold the lease
  // of the items' processors until the batch is over. An item whose blobs are missing ends with kRetry.
  virtual std::unique_ptr<MeasureBatch> Submit(std::vector<MeasureItem> items) = 0;
};

// Sends the blob unless the service has it.
absl::Status PutMissing(MeasuringService& service, const Blob& blob);

}  // namespace attune

#endif  // ATTUNE_MEASURE_SERVICE_H_
