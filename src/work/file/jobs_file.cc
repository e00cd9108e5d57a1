#include "work/file/jobs_file.h"

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/status.h"
#include "work/file/yaml.h"
#include "work/job/settings.h"
#include "work/sched/priority_class.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostBytes = int64_t{16} << 20;
constexpr size_t kMostJobs = 100'000;

// Ids that differ from each other.
class Ids {
 public:
  // Whether the name is free.
  bool Take(const std::string& id) { return taken_.insert(id).second; }
  std::string Unique(const std::string& wanted) {
    std::string id = wanted;
    while (!Take(id)) id = absl::StrCat(wanted, "-", ++last_.try_emplace(wanted, 1).first->second);
    return id;
  }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> last_;  // the number of the last id of that name
};

// The keys that every job may have; all others are settings of its kind.
absl::StatusOr<JobSpec> ReadJob(Json object, const std::string& base, Ids& ids) {
  JobSpec job;
  job.kind = "tuning";
  job.base = base;
  Json common = Json::object();
  for (const char* key : {"id", "kind", "owner", "priority", "deadline", "parts"}) {
    if (!object.contains(key)) continue;
    common[key] = object[key];
    object.erase(key);
  }
  double deadline = 0;
  SettingsReader reader(common, base);
  reader.Read("id", job.id);
  reader.Read("kind", job.kind);
  reader.Read("owner", job.owner);
  reader.Read("priority", job.priority, -kMostJobPriority, kMostJobPriority);
  reader.ReadSeconds("deadline", deadline);
  reader.Read("parts", job.parts, 1, AllPriorityClasses().back().most_parts);
  RETURN_IF_ERROR(reader.Finish());
  if (deadline > 0) job.deadline_seconds = deadline;
  std::string name = job.kind;
  if (const auto model = object.find("model"); model != object.end() && model->is_string())
    name = std::filesystem::path(model->get<std::string>()).stem().string();
  const bool has_id = !job.id.empty();
  if (!has_id) job.id = ids.Unique(WithoutControls(name));
  if (WithoutControls(job.id) != job.id) return InvalidInput("id: is not one line of printable text");
  if (has_id && !ids.Take(job.id)) return InvalidInput("id: \"", job.id, "\" is there twice");
  job.settings = std::move(object);
  return job;
}

absl::StatusOr<JobsFile> ReadDocument(const Json& document, const std::string& base) {
  JobsFile file;
  SettingsReader reader(document, base);
  constexpr int kMostProcessors = 1 << 16;
  reader.Read("strategy", file.strategy);
  reader.Read("isolation", file.isolation);
  reader.Read("building", file.building, 1, kMostProcessors);
  reader.Read("measuring", file.measuring, 1, kMostProcessors);
  reader.Read("jobs_at_once", file.jobs_at_once, 1, static_cast<int64_t>(kMostJobs));
  const std::vector<Json> objects = reader.ReadObjects("jobs", /*needed=*/true);
  RETURN_IF_ERROR(reader.Finish());
  if (objects.empty()) return InvalidInput("jobs: there are none");
  if (objects.size() > kMostJobs) return InvalidInput("jobs: there are more than ", kMostJobs);
  Ids ids;
  for (const Json& object : objects) {
    absl::StatusOr<JobSpec> job = ReadJob(object, base, ids);
    if (!job.ok()) return Annotate(job.status(), absl::StrCat("job ", file.jobs.size() + 1));
    file.jobs.push_back(*std::move(job));
  }
  return file;
}

}  // namespace

absl::StatusOr<JobsFile> ParseJobsFile(const std::string& text, const std::string& name,
                                       const std::string& base) {
  const absl::StatusOr<Json> document = ParseYaml(text);
  if (!document.ok()) return Annotate(document.status(), name);
  if (!document->is_object()) return InvalidInput(name, ": is not a file of jobs: it has no key \"jobs\"");
  absl::StatusOr<JobsFile> file = ReadDocument(*document, base);
  if (!file.ok()) return Annotate(file.status(), name);
  return file;
}

absl::StatusOr<JobsFile> ReadJobsFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return ParseJobsFile(text, path, absolute.parent_path().string());
}

std::vector<JobSpec> TuningSpecs(const std::vector<std::string>& models) {
  std::vector<JobSpec> jobs;
  Ids ids;
  for (const std::string& model : models) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(model, error);
    JobSpec& job = jobs.emplace_back();
    job.kind = "tuning";
    job.id = ids.Unique(WithoutControls(path.stem().string()));
    job.settings = {{"model", path.string()}};
    job.base = path.parent_path().string();
  }
  return jobs;
}

}  // namespace attune
