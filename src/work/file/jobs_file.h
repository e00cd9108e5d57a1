// Reads a file of jobs: YAML that people write.
//
//   strategy: predictive
//   building: 3          # processors that build
//   measuring: 1         # processors that measure
//   jobs:
//     - {model: resnet18.onnx, trials: 200, output: resnet18.atn}
//     - {id: sweep, kind: quantization, model: resnet18.onnx, data: photos, priority: 1}
#ifndef ATTUNE_WORK_FILE_JOBS_FILE_H_
#define ATTUNE_WORK_FILE_JOBS_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "work/job/job_spec.h"

namespace attune {

struct JobsFile {
  std::vector<JobSpec> jobs;
  // These say how to run them; the command line may say otherwise. Empty or 0: not given.
  std::string strategy, isolation;
  int building = 0, measuring = 0;
  int64_t jobs_at_once = 0;
};

// Relative paths in the jobs start from the folder of the file. Errors name the file, and the line or the
// job.
absl::StatusOr<JobsFile> ReadJobsFile(const std::string& path);
// The same for a text; `name` is used in messages.
absl::StatusOr<JobsFile> ParseJobsFile(const std::string& text, const std::string& name,
                                       const std::string& base);

// The specs of jobs that tune these models, with ids of their own.
std::vector<JobSpec> TuningSpecs(const std::vector<std::string>& models);

}  // namespace attune

#endif  // ATTUNE_WORK_FILE_JOBS_FILE_H_
