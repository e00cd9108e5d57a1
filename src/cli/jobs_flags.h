// The jobs that a command line names: a file of jobs, or models to tune.
#ifndef ATTUNE_CLI_JOBS_FLAGS_H_
#define ATTUNE_CLI_JOBS_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "work/file/jobs_file.h"

namespace attune {

struct JobsFlags {
  std::vector<std::string> inputs;    // a file of jobs, or models
  std::vector<std::string> settings;  // "trials=200", for every job
};

void AddJobsFlags(CLI::App& command, JobsFlags& flags);

// The jobs with these settings. Checks no more than that they can be read.
absl::StatusOr<JobsFile> ReadJobs(const JobsFlags& flags);

}  // namespace attune

#endif  // ATTUNE_CLI_JOBS_FLAGS_H_
