// What the tuner and its workers say to each other, as messages. Decoding is safe on any bytes.
#ifndef ATTUNE_TUNE_TASK_CODEC_H_
#define ATTUNE_TUNE_TASK_CODEC_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "measure/measurer.h"
#include "target/target.h"
#include "tune/task/builder.h"
#include "tune/task/task.h"

namespace attune {

// A task and what is to be built of it.
std::string EncodeBuildRequest(const BuildRequest& request);
struct DecodedBuildRequest {
  TuningTask task;  // region and constant inputs alone
  Candidate candidate;
};
absl::StatusOr<DecodedBuildRequest> DecodeBuildRequest(std::string_view message);

std::string EncodeBuildResult(const BuildResult& result);
absl::StatusOr<BuildResult> DecodeBuildResult(std::string_view message);

std::string EncodeTarget(const Target& target);
absl::StatusOr<Target> DecodeTarget(std::string_view message);

struct MeasureRequest {
  BuiltKernel kernel;
  MeasureOptions options;
  double incumbent_seconds = 0;  // 0: there is none
  std::optional<BuiltKernel> incumbent;
};
std::string EncodeMeasureRequest(const BuiltKernel& kernel, const MeasureOptions& options,
                                 const Incumbent* incumbent);
absl::StatusOr<MeasureRequest> DecodeMeasureRequest(std::string_view message);

std::string EncodeMeasurement(const Measurement& measurement);
absl::StatusOr<Measurement> DecodeMeasurement(std::string_view message);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_CODEC_H_
