// Encodes requests to measuring processes, and their answers, as messages (measure.proto). Decoding is safe
// for any bytes: the decoded values are in range, and their memory is bounded by the message's size.
#ifndef ATTUNE_MEASURE_CODEC_H_
#define ATTUNE_MEASURE_CODEC_H_

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "measure/item.h"
#include "measure/kernel.h"

namespace attune {

// Increases with each change that the other side would misunderstand.
inline constexpr uint32_t kMeasureVersion = 2;

// The content of a kernel's blob. Equal kernels have equal blobs.
std::string EncodeKernel(const BuiltKernel& kernel);
absl::StatusOr<BuiltKernel> DecodeKernel(std::string_view blob);

// The requests to a worker process. The file of a blob follows its NewBlob message.
struct NewBlob {
  std::string digest;
};
struct ForgetBlob {
  std::string digest;
};
using WorkerRequest = std::variant<MeasureItem, NewBlob, ForgetBlob>;
std::string EncodeWorkerRequest(const WorkerRequest& request);
absl::StatusOr<WorkerRequest> DecodeWorkerRequest(std::string_view message);

std::string EncodeMeasurement(const Measurement& measurement);
absl::StatusOr<Measurement> DecodeMeasurement(std::string_view message);

}  // namespace attune

#endif  // ATTUNE_MEASURE_CODEC_H_
