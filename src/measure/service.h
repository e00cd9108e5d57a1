// Whoever measures: on this machine, or elsewhere.
//
// Problem: measuring takes most of the time of tuning, needs a device for itself, runs code that crashes and
// hangs, and may happen on another machine. Idea: one who asks submits a batch of items and goes on; results
// come one by one. What is large (code, reference data, artifacts) is a blob with a digest and is sent once.
// Checking, which needs no quiet device, is apart from timing.
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

// A batch that was submitted. For one thread at a time. When it is gone, it is cancelled, and nothing runs
// any more on its behalf.
class MeasureBatch {
 public:
  virtual ~MeasureBatch() = default;

  // Waits for the next result, by any item: its index and what came out. Nothing where none has come by the
  // deadline, or all have.
  virtual std::optional<std::pair<size_t, Measurement>> Next(Deadline deadline) = 0;
  // Whether all results have come out of Next().
  virtual bool is_over() const = 0;
  // Items that nobody works on yet are not measured: their outcome is kRetry.
  virtual void Cancel() = 0;
  // Since the service has last given a sign of life about this batch.
  virtual double SecondsSinceHeartbeat() const = 0;
};

// Thread safe. A service is for one device; there may be many.
class MeasuringService {
 public:
  virtual ~MeasuringService() = default;

  virtual const DeviceInfo& device() const = 0;

  // Whether the service still has a blob: it may forget those that were not used for long.
  virtual bool Has(const std::string& digest) const = 0;
  virtual absl::Status Put(const Blob& blob) = 0;

  // Measures all items; exclusive ones one after the other, in their order. Who submits holds the lease of
  // the items' processors until the batch is over. Blobs that are missing are kRetry.
  virtual std::unique_ptr<MeasureBatch> Submit(std::vector<MeasureItem> items) = 0;
};

// Sends what the service does not have.
absl::Status PutMissing(MeasuringService& service, const Blob& blob);

}  // namespace attune

#endif  // ATTUNE_MEASURE_SERVICE_H_
