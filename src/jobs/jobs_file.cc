#include "jobs/jobs_file.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/status.h"
#include "jobs/settings.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostBytes = int64_t{16} << 20;
constexpr size_t kMostJobs = 100'000;
// Aliases can make a small file a huge document.
constexpr int kMostDepth = 32;
constexpr int64_t kMostNodes = 4'000'000;

// Turns YAML into JSON: quoted scalars are texts, others what they look like.
class Converter {
 public:
  absl::StatusOr<Json> Convert(const YAML::Node& node, int depth = 0) {
    if (depth > kMostDepth || ++nodes_ > kMostNodes) return Error(node, "is nested too deeply or too large");
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return Scalar(node);
      case YAML::NodeType::Sequence:
        return Sequence(node, depth);
      case YAML::NodeType::Map:
        return Map(node, depth);
      default:
        return Json();
    }
  }

 private:
  static absl::Status Error(const YAML::Node& node, std::string_view what) {
    return InvalidInput("line ", node.Mark().line + 1, ": ", what);
  }

  static Json Scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    constexpr std::string_view kQuoted = "!";
    if (node.Tag() == kQuoted) return text;
    if (text == "true" || text == "false") return text == "true";
    if (text == "null" || text == "~") return Json();
    if (int64_t whole = 0; absl::SimpleAtoi(text, &whole)) return whole;
    // Not "inf", "nan" and the like: they are texts.
    const bool is_numeric = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
    if (double number = 0; is_numeric && absl::SimpleAtod(text, &number)) return number;
    return text;
  }

  absl::StatusOr<Json> Sequence(const YAML::Node& node, int depth) {
    Json list = Json::array();
    for (const YAML::Node& item : node) {
      ASSIGN_OR_RETURN(list.emplace_back(), Convert(item, depth + 1));
    }
    return list;
  }

  absl::StatusOr<Json> Map(const YAML::Node& node, int depth) {
    Json object = Json::object();
    for (const auto& entry : node) {
      const YAML::Node &key = entry.first, &value = entry.second;
      if (!key.IsScalar()) return Error(key, "a key is no text");
      if (object.contains(key.Scalar()))
        return Error(key, absl::StrCat("\"", Printable(key.Scalar()), "\" is there twice"));
      ASSIGN_OR_RETURN(object[key.Scalar()], Convert(value, depth + 1));
    }
    return object;
  }

  int64_t nodes_ = 0;
};

absl::StatusOr<Json> ParseYaml(const std::string& text) {
  try {
    return Converter().Convert(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return InvalidInput("line ", error.mark.line + 1, ": is no YAML: ", WithoutControls(error.msg));
  }
}

// Ids that differ from each other.
class Ids {
 public:
  // Whether nobody has it yet.
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
  for (const char* key : {"id", "kind", "owner", "priority", "deadline"}) {
    if (!object.contains(key)) continue;
    common[key] = object[key];
    object.erase(key);
  }
  double deadline = 0;
  constexpr int kMostPriority = 1'000'000;
  SettingsReader reader(common, base);
  reader.Read("id", job.id);
  reader.Read("kind", job.kind);
  reader.Read("owner", job.owner);
  reader.Read("priority", job.priority, -kMostPriority, kMostPriority);
  reader.ReadSeconds("deadline", deadline);
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
  if (!document->is_object()) return InvalidInput(name, ": is no file of jobs: it has no key \"jobs\"");
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

absl::StatusOr<nlohmann::json> ParseYamlValue(const std::string& text) { return ParseYaml(text); }

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
