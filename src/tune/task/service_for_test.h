// For tests: checks and times kernels on this machine, one by one.
#ifndef ATTUNE_TUNE_TASK_SERVICE_FOR_TEST_H_
#define ATTUNE_TUNE_TASK_SERVICE_FOR_TEST_H_

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/codec.h"
#include "measure/local_service.h"
#include "tune/task/reference_data.h"
#include "tune/task/task.h"

namespace attune {

class MeasurerOfTest {
 public:
  explicit MeasurerOfTest(LocalServiceOptions options = {}) : service_(DeviceOfTest(), std::move(options)) {}

  // Checks the kernel, then times it, interleaved with the baseline, whose recorded time is
  // `baseline_seconds`.
  Measurement Measure(const TuningTask& task, const BuiltKernel& kernel, const MeasureOptions& options,
                      const BuiltKernel* baseline = nullptr, double baseline_seconds = 0) {
    MeasureItem item{.kind = MeasureItem::Kind::kCheckKernel,
                     .options = options,
                     .subject = Put(Blob::Of(EncodeKernel(kernel))),
                     .data = DataOf(task)};
    Measurement measured = One(item);
    if (measured.outcome != TrialOutcome::kOk) return measured;
    item.kind = MeasureItem::Kind::kTimeKernel;
    if (baseline != nullptr) item.baseline = Put(Blob::Of(EncodeKernel(*baseline)));
    item.baseline_seconds = baseline_seconds;
    return One(item);
  }

  // The measurement of a batch with one item.
  Measurement One(const MeasureItem& item) {
    const std::unique_ptr<MeasureBatch> batch = service_.Submit({item});
    const auto result = batch->Next(kNoDeadline);
    EXPECT_TRUE(result.has_value() && result->first == 0 && batch->is_over());
    return result.has_value() ? result->second : Measurement();
  }

  std::string DataOf(const TuningTask& task) {
    std::string& digest = data_[task.digest];
    if (digest.empty()) digest = Put(MakeReferenceData(task));
    return digest;
  }
  std::string Put(const absl::StatusOr<Blob>& blob) {
    EXPECT_TRUE(blob.ok()) << blob.status();
    if (!blob.ok()) return "";
    EXPECT_TRUE(PutMissing(service_, *blob).ok());
    return blob->digest();
  }

  LocalMeasuringService& service() { return service_; }

 private:
  static DeviceInfo DeviceOfTest() {
    absl::StatusOr<DeviceInfo> device = HostDevice();
    EXPECT_TRUE(device.ok()) << device.status();
    return *std::move(device);
  }

  LocalMeasuringService service_;
  std::map<std::string, std::string> data_;  // blob digests, by task digest
};

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_SERVICE_FOR_TEST_H_
