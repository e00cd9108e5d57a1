// The functions of the kinds that the table in kinds.cc names; each kind has a file of its own.
#ifndef ATTUNE_KINDS_KIND_FUNCTIONS_H_
#define ATTUNE_KINDS_KIND_FUNCTIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/job.h"
#include "work/job/job_spec.h"

namespace attune {

absl::Status CheckMockJob(const JobSpec& spec);
absl::StatusOr<std::unique_ptr<Job>> OpenMockJob(const JobSpec& spec, const JobPlace& place);

std::vector<JobStage> ForeseeMockJob(const JobSpec& spec, const JobPlace& place);

absl::Status CheckTuningJob(const JobSpec& spec);
absl::StatusOr<std::unique_ptr<Job>> OpenTuningJob(const JobSpec& spec, const JobPlace& place);

absl::Status CheckQuantizationSweep(const JobSpec& spec);
absl::StatusOr<std::unique_ptr<Job>> OpenQuantizationSweep(const JobSpec& spec, const JobPlace& place);

absl::Status CheckProgramJob(const JobSpec& spec);
absl::StatusOr<std::unique_ptr<Job>> OpenProgramJob(const JobSpec& spec, const JobPlace& place);

// A stage that needs the device with as many processors as the setting `threads` says, 1 by default.
std::vector<JobStage> ForeseeDeviceThreads(const JobSpec& spec, const JobPlace& place);

// The key that stages ask for which need a device: the first one's, or "device" if there is none.
std::string DeviceOf(const JobPlace& place);

// Returns the name of the model's file; for other jobs, the id without the digits at its end.
std::string SubjectOf(const JobSpec& spec);

}  // namespace attune

#endif  // ATTUNE_KINDS_KIND_FUNCTIONS_H_
