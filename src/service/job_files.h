// The files of a job that a server has: what was submitted with it, and what its stages leave.
#ifndef ATTUNE_SERVICE_JOB_FILES_H_
#define ATTUNE_SERVICE_JOB_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "service/wire/jobs.pb.h"

namespace attune {

// Files below are submitted, and made for people. All others are a job's own notes, from which it goes on.
inline constexpr std::string_view kInputsFolder = "in/", kOutputsFolder = "out/";

// Bounds of one job.
inline constexpr int kMostJobFiles = 20'000;
inline constexpr size_t kMostJobFileName = 512;  // bytes

// Fails unless each name is that of a file below the job's folder: parts that are neither empty nor "." nor
// "..", in printable UTF-8, and each name once. The error names the file.
absl::Status CheckJobFiles(const std::vector<jobs_service_proto::JobFile>& files);
absl::Status CheckJobFileName(std::string_view name);

}  // namespace attune

#endif  // ATTUNE_SERVICE_JOB_FILES_H_
