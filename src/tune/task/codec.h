// What is said to whoever builds candidates, and what is answered, as messages (build.proto). Decoding is
// safe on any bytes.
#ifndef ATTUNE_TUNE_TASK_CODEC_H_
#define ATTUNE_TUNE_TASK_CODEC_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "target/target.h"
#include "tune/task/builder.h"
#include "tune/task/task.h"

namespace attune {

// Counts up with each change that the other side would misunderstand.
inline constexpr uint32_t kBuildVersion = 1;

struct BuildSetUp {
  double seconds_limit = 30;  // of one candidate
  Target target;              // a named one, with caches, cores and modelled features of its own
};
std::string EncodeBuildSetUp(const BuildSetUp& set_up);
absl::StatusOr<BuildSetUp> DecodeBuildSetUp(std::string_view message);

// A task and what is to be built of it.
std::string EncodeBuildRequest(const BuildRequest& request);
struct DecodedBuildRequest {
  TuningTask task;  // region and constant inputs alone
  Candidate candidate;
};
absl::StatusOr<DecodedBuildRequest> DecodeBuildRequest(std::string_view message);

std::string EncodeBuildResult(const BuildResult& result);
absl::StatusOr<BuildResult> DecodeBuildResult(std::string_view message);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_CODEC_H_
