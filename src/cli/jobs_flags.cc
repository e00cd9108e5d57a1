#include "cli/jobs_flags.h"

#include <algorithm>

#include "base/status.h"
#include "nlohmann/json.hpp"
#include "work/file/yaml.h"

namespace attune {
namespace {

bool IsJobsFile(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

}  // namespace

void AddJobsFlags(CLI::App& command, JobsFlags& flags) {
  command.add_option("JOBS", flags.inputs, "a file of jobs (.yaml), or models to tune")->required();
  command.add_option("--set", flags.settings, "a setting of every job, such as trials=200; may be repeated")
      ->allow_extra_args(false);
}

absl::StatusOr<JobsFile> ReadJobs(const JobsFlags& flags) {
  const auto files = std::ranges::count_if(flags.inputs, IsJobsFile);
  if (files > 0 && flags.inputs.size() > 1)
    return InvalidInput("give one file of jobs, or models, and not both");
  JobsFile file;
  if (files == 1) {
    ASSIGN_OR_RETURN(file, ReadJobsFile(flags.inputs.front()));
  } else {
    file.jobs = TuningSpecs(flags.inputs);
  }
  for (const std::string& setting : flags.settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0)
      return InvalidInput("--set ", setting, ": is not of the form trials=200");
    const absl::StatusOr<nlohmann::json> value = ParseYaml(setting.substr(equals + 1));
    if (!value.ok()) return Annotate(value.status(), "--set " + setting);
    for (JobSpec& job : file.jobs) job.settings[setting.substr(0, equals)] = *value;
  }
  return file;
}

}  // namespace attune
