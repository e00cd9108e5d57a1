// The files of a job that a server has: what was submitted with it, and what its stages leave.
#ifndef ATTUNE_SERVICE_WIRE_JOB_FILES_H_
#define ATTUNE_SERVICE_WIRE_JOB_FILES_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "fleet/wire/rpc_status.h"
#include "service/wire/jobs.pb.h"
#include "work/job/job_spec.h"

namespace attune {

// Files below are submitted, and made for people. All others are a job's own notes, from which it resumes.
inline constexpr std::string_view kInputsFolder = "in/", kOutputsFolder = "out/";

// Bounds of one job.
inline constexpr int kMostJobFiles = 20'000;
inline constexpr size_t kMostJobFileName = 512;               // bytes
inline constexpr size_t kMostJobFileNames = size_t{2} << 20;  // bytes of all names together
// Bytes of a part of a name: file systems take 255, and programs append endings to what they write.
inline constexpr size_t kMostJobFilePart = 200;

// Fails unless each name is that of a file below the job's folder: parts that are neither too long nor empty
// nor "." nor "..", in printable UTF-8, each name once, and none a folder of others. The error names the
// file.
absl::Status CheckJobFiles(const std::vector<JobFile>& files);
absl::Status CheckJobFileName(std::string_view name);

jobs_service_proto::JobFile ToWire(const JobFile& file);
using WireFiles = google::protobuf::RepeatedPtrField<jobs_service_proto::JobFile>;
WireFiles ToWire(const std::vector<JobFile>& files);
// Unchecked.
std::vector<JobFile> FromWire(const WireFiles& files);

inline constexpr char kRefusedFile[] = "refused file";  // the detail, on the wire

// Marks the error with which Jobs.WriteFile ends. A runner that does not know the mark takes it for an error
// of its machine, such as a full disk.
inline absl::Status RefusedFile(absl::Status why) {
  why.SetPayload(kRpcDetail, absl::Cord(kRefusedFile));
  return why;
}
inline bool IsRefusedFile(const absl::Status& status) {
  return status.GetPayload(kRpcDetail) == absl::Cord(kRefusedFile);
}

}  // namespace attune

#endif  // ATTUNE_SERVICE_WIRE_JOB_FILES_H_
