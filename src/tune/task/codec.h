// Encodes requests to processes that build candidates, and their answers, as messages (build.proto).
// Decoding is safe for any bytes.
#ifndef ATTUNE_TUNE_TASK_CODEC_H_
#define ATTUNE_TUNE_TASK_CODEC_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "target/target.h"
#include "tune/task/builder.h"
#include "tune/task/task.h"

namespace attune {

// Increases with each change that the other side would misunderstand.
inline constexpr uint32_t kBuildVersion = 2;

struct BuildSetUp {
  double seconds_limit = 30;  // per candidate
  Target target;              // a named target, with its own caches, cores and modelled features
};
std::string EncodeBuildSetUp(const BuildSetUp& set_up);
absl::StatusOr<BuildSetUp> DecodeBuildSetUp(std::string_view message);

// A task and the candidate to build for it.
std::string EncodeBuildRequest(const BuildRequest& request);
struct DecodedBuildRequest {
  TuningTask task;  // only region and constant inputs
  Candidate candidate;
};
absl::StatusOr<DecodedBuildRequest> DecodeBuildRequest(std::string_view message);

std::string EncodeBuildResult(const BuildResult& result);
absl::StatusOr<BuildResult> DecodeBuildResult(std::string_view message);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_CODEC_H_
