#include "service/agreement/asked_job.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "kinds/quantization_settings.h"
#include "work/job/settings.h"

namespace attune {
namespace {

using Json = nlohmann::json;

absl::StatusOr<SweepSettings> SweepOf(const AskedJob& job) {
  return ReadSweepSettings({.id = "", .kind = job.kind, .settings = job.settings});
}

// A sample is a file in the folder of the data, or a folder there; hidden ones are none.
int64_t SamplesAmong(const std::vector<std::string>& inputs, const std::string& folder) {
  const std::string path = std::filesystem::path(folder).lexically_normal().string();
  const std::string prefix = absl::StrCat(absl::StripSuffix(path, "/"), "/");
  std::set<std::string> samples;
  for (const std::string& name : inputs) {
    if (!name.starts_with(prefix)) continue;
    const std::string sample = name.substr(prefix.size(), name.find('/', prefix.size()) - prefix.size());
    if (!sample.starts_with(".")) samples.insert(sample);
  }
  return std::ssize(samples);
}

// The settings of a job that quantizes, so that it judges the loss that it promises, by as many samples as it
// has where that takes more than usual, and chooses its best variant by that.
Json WithJudging(const AskedJob& job) {
  Json settings = job.settings;
  if (!job.agreement.accuracy_loss.has_value()) return settings;
  // A quarter of the samples judges what the others have made.
  constexpr int kJudged = 4;
  if (!settings.contains("judged")) settings["judged"] = kJudged;
  const absl::StatusOr<SweepSettings> sweep = SweepOf(job);
  if (!sweep.ok()) return settings;  // the job's kind says what is wrong
  const int64_t samples = SamplesAmong(job.inputs, sweep->samples.folder);
  if (!settings.contains("samples") && samples > sweep->samples.most) settings["samples"] = samples;
  if (!settings.contains("max_drop") || sweep->samples.max_drop > *job.agreement.accuracy_loss)
    settings["max_drop"] = *job.agreement.accuracy_loss;
  return settings;
}

}  // namespace

absl::StatusOr<JudgingPlan> PlanOfJudging(const AskedJob& job) {
  ASSIGN_OR_RETURN(const SweepSettings sweep, SweepOf(job));
  const bool is_mixed =
      std::ranges::all_of(sweep.variants, [](const auto& variant) { return variant.is_mixed; });
  return JudgingPlan{.samples = std::min(SamplesAmong(job.inputs, sweep.samples.folder), sweep.samples.most),
                     .period = std::max(sweep.judged, 1),
                     .variants = static_cast<int>(sweep.variants.size()),
                     .is_mixed = is_mixed};
}

Json SettingsWithin(const AskedJob& job, double queue_seconds) {
  if (job.kind == "quantization") return WithJudging(job);
  Json settings = job.settings;
  // The time for opening the job, writing and judging its result; the least that is worth beginning with.
  constexpr double kAround = 12, kLeast = 5;
  double most = 0;
  SettingsReader(settings, "").ReadSeconds("time", most);
  const auto limit = [&](const std::optional<double>& asked, double besides) {
    if (!asked.has_value()) return;
    const double seconds = std::max(kLeast, *asked - kAround - besides);
    most = most > 0 ? std::min(most, seconds) : seconds;
  };
  limit(job.agreement.deadline_seconds, queue_seconds);
  limit(job.agreement.device_seconds, 0);
  if (most > 0) settings["time"] = most;
  return settings;
}

}  // namespace attune
