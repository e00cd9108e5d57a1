// The work of the stages of a quantization sweep; quantization_sweep.cc orders them.
#ifndef ATTUNE_KINDS_QUANTIZATION_WORK_H_
#define ATTUNE_KINDS_QUANTIZATION_WORK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/network.h"
#include "api/network_blobs.h"
#include "api/pipeline.h"
#include "api/samples.h"
#include "base/cancel.h"
#include "device/device.h"
#include "kinds/quantization_settings.h"
#include "measure/blob.h"
#include "measure/item.h"
#include "measure/service.h"
#include "nlohmann/json.hpp"

namespace attune {

// To be called in this order: Prepare(), and then for each variant Calibrate(), Build(), Measure(), Judge().
// For one thread at a time. Errors: Cancelled; Unavailable if the machine is at fault; others are the
// model's or the variant's fault.
class QuantizationWork {
 public:
  // `settings` and `cancellation` must outlive this object. Models are written into the folder `output`.
  // `elsewhere` measures on the device; null: the device is this machine.
  QuantizationWork(const SweepSettings& settings, std::string output, DeviceInfo device,
                   std::shared_ptr<MeasuringService> elsewhere, const Cancellation& cancellation)
      : settings_(settings),
        output_(std::move(output)),
        device_(std::move(device)),
        elsewhere_(std::move(elsewhere)),
        cancellation_(cancellation) {}

  // Loads the model and the samples, and compiles the model in f32, the baseline. Here and below, on
  // `threads` threads.
  absl::Status Prepare(int threads);
  bool is_prepared() const { return baseline_.has_value(); }

  // Quantizes the model.
  absl::Status Calibrate(const QuantizationVariant& variant, int threads);
  // Writes and compiles the quantized model, and has the samples that were set aside judge it.
  absl::Status Build(const QuantizationVariant& variant, int threads);
  // Times it interleaved with the baseline, on these processors (empty: any).
  absl::Status Measure(const std::vector<int>& processors);
  // The results of the variant as members of a JSON object. `baseline_ms` is the time of the baseline that
  // all variants refer to; 0: the one just measured.
  absl::StatusOr<nlohmann::ordered_json> Judge(const QuantizationVariant& variant, double baseline_ms) const;
  // Drops what the stages of a variant have made.
  void Forget();

  // The bytes of the model and the samples: of the model's file before Prepare(), and an upper bound of the
  // samples.
  int64_t model_bytes() const;
  int64_t sample_bytes() const;

 private:
  absl::StatusOr<Measurement> MeasureOnce(MeasuringService& service, const MeasureItem& item) const;
  // Loads the model and the samples.
  absl::Status Load();
  // Sets aside the samples that judge.
  absl::Status SetAside();
  // Compares the quantized network with f32 on these.
  absl::Status MeasureLoss(int threads);
  std::string FileOf(const QuantizationVariant& variant) const;
  WorkControl Control() const { return {.cancellation = &cancellation_}; }
  // Returns the request to the compiler, which uses `threads` threads.
  CompileRequest RequestFor(Precision precision, int threads) const;
  // Optimizes and compiles for the device.
  absl::StatusOr<NetworkBlobs> Compile(const Network& network, int threads) const;

  const SweepSettings& settings_;
  const std::string output_;
  const DeviceInfo device_;
  const std::shared_ptr<MeasuringService> elsewhere_;
  const Cancellation& cancellation_;

  std::optional<Network> network_;  // as imported
  std::string digest_;              // GraphDigest() of it
  int64_t weight_bytes_ = 0;
  Samples samples_, judging_;
  std::optional<NetworkBlobs> baseline_;

  // These belong to the current variant.
  std::optional<Network> quantized_;
  std::optional<NetworkBlobs> built_;
  Measurement measured_;
  std::optional<double> loss_;  // by the samples that judge
};

}  // namespace attune

#endif  // ATTUNE_KINDS_QUANTIZATION_WORK_H_
