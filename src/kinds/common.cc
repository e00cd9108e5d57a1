// Functions that several kinds share.
#include <filesystem>

#include "kinds/kind_functions.h"
#include "work/job/job_id.h"
#include "work/job/settings.h"

namespace attune {

std::vector<JobStage> ForeseeDeviceThreads(const JobSpec& spec, const JobPlace& place) {
  int64_t threads = 1;
  SettingsReader(spec.settings, spec.base).Read("threads", threads, 1, INT64_MAX);
  JobStage stage{.name = "measure", .needs = {}, .memory_bytes = 0, .seconds = {}};
  stage.needs.push_back({.key = DeviceOf(place), .amount = threads, .exclusive = true});
  return {stage};
}

std::string DeviceOf(const JobPlace& place) {
  return place.devices.empty() ? "device" : place.devices.front();
}

std::string SubjectOf(const JobSpec& spec) {
  const auto model = spec.settings.is_object() ? spec.settings.find("model") : spec.settings.end();
  if (model != spec.settings.end() && model->is_string())
    return std::filesystem::path(model->get<std::string>()).filename().string();
  const std::string id = OwnJobId(spec.id, spec.owner);
  const size_t end = id.find_last_not_of("0123456789");
  return end == std::string::npos ? id : id.substr(0, end + 1);
}

}  // namespace attune
