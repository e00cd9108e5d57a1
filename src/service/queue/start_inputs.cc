#include "service/queue/start_inputs.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/json_at.h"
#include "base/status.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

constexpr char kCostModelSetting[] = "cost_model", kRecordsSetting[] = "start_records";

// Whether a tuning job may be given what this setting names, unless the other setting says that it is to know
// nothing of others.
bool Lacks(const JobRecord& job, const char* setting, const char* unless_not) {
  const nlohmann::json& settings = job.spec.settings;
  const bool has_own = settings.contains(setting) && !settings[setting].is_null();
  return job.spec.kind == "tuning" && !has_own && FlagAt(settings, unless_not, true);
}

bool WantsRecords(const JobRecord& job) { return Lacks(job, kRecordsSetting, "/transfer_runs"); }

absl::Status AddInput(const std::string& setting, const std::string& file, const std::string& text,
                      SubmittedFiles& files, JobRecord& job) {
  const JobFile given = {
      .name = absl::StrCat(kInputsFolder, file), .digest = Sha256Hex(text), .bytes = std::ssize(text)};
  // One that the owner has sent under this name stays what it is.
  if (std::ranges::find(job.files, given.name, &JobFile::name) != job.files.end()) return absl::OkStatus();
  RETURN_IF_ERROR(files.Add(job.spec.base, given.digest, text));
  job.files.push_back(given);
  job.spec.settings[setting] = given.name;
  return absl::OkStatus();
}

}  // namespace

bool WantsCostModel(const JobRecord& job) { return Lacks(job, kCostModelSetting, "/use_model"); }

absl::Status AddStartInputs(const StartInputs& inputs, SubmittedFiles& files, JobRecord& job) {
  if (inputs.cost_model && WantsCostModel(job))
    RETURN_IF_ERROR(AddInput(kCostModelSetting, "shared-cost-model.txt", *inputs.cost_model, files, job));
  if (!inputs.records.empty() && WantsRecords(job))
    RETURN_IF_ERROR(AddInput(kRecordsSetting, "shared-records.jsonl", inputs.records, files, job));
  return absl::OkStatus();
}

}  // namespace attune
