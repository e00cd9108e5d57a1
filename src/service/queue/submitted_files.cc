#include "service/queue/submitted_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/json_at.h"
#include "base/log.h"
#include "base/status.h"
#include "service/wire/job_files.h"
#include "work/job/kind.h"

namespace attune {

absl::Status SubmittedFiles::TakeAll(const std::string& owner, const std::vector<JobRecord>& jobs,
                                     BlobStore& sent) {
  std::map<std::string, std::string> having;  // by digest: a job of this submission that has the file
  for (const JobRecord& job : jobs) {
    for (const JobFile& file : job.files) {
      const auto [other, is_first] = having.try_emplace(file.digest, job.spec.base);
      if (is_first) {
        RETURN_IF_ERROR(Take(owner, job, file, sent));
      } else {
        RETURN_IF_ERROR(files_.Share(other->second, job.spec.base, file.digest));
      }
    }
  }
  return absl::OkStatus();
}

// An upload may be evicted, and a job's files may not.
absl::Status SubmittedFiles::Take(const std::string& owner, const JobRecord& job, const JobFile& file,
                                  BlobStore& sent) {
  const std::string name = absl::StrCat(job.spec.id, ": ", file.name);
  if (files_.Has(job.spec.base, file.digest)) return absl::OkStatus();
  RETURN_IF_ERROR(Annotate(files_.Take(sent, owner, job.spec.base, file.digest), name));
  ASSIGN_OR_RETURN(const int64_t bytes, files_.Sent(job.spec.base, file.digest));
  if (bytes == file.bytes) return absl::OkStatus();
  return InvalidInput(name, ": has ", bytes, " bytes, and not ", file.bytes);
}

absl::Status SubmittedFiles::Add(const std::string& base, const std::string& digest, std::string_view text) {
  if (files_.Has(base, digest)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t sent, files_.Sent(base, digest));
  RETURN_IF_ERROR(files_.Append(base, digest, sent, text.substr(static_cast<size_t>(sent))));
  return files_.Finish(base, digest);
}

void SubmittedFiles::ForgetAll(const std::vector<JobRecord>& jobs) {
  for (const JobRecord& job : jobs) {
    for (const JobFile& file : job.files) {
      const absl::Status forgotten = files_.Forget(job.spec.base, file.digest);
      if (!forgotten.ok()) Log(LogLevel::kWarning, "an input stays", "reason", forgotten.message());
    }
  }
}

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

absl::StatusOr<std::vector<JobFile>> GatherPartFiles(const JobRecord& whole,
                                                     const std::map<size_t, JobRecord>& parts,
                                                     BlobStore& files) {
  std::vector<JobFile> gathered = whole.files;
  std::erase_if(gathered, [](const JobFile& file) { return !file.name.starts_with(kInputsFolder); });
  for (const auto& [number, part] : parts) {
    for (JobFile file : part.files) {
      if (file.name.starts_with(kInputsFolder)) continue;
      RETURN_IF_ERROR(files.Share(part.spec.base, whole.spec.base, file.digest));
      file.name.insert(0, PartFolder(part.spec.part));
      gathered.push_back(std::move(file));
    }
  }
  RETURN_IF_ERROR(CheckJobFiles(gathered));
  return gathered;
}

}  // namespace attune
