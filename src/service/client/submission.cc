#include "service/client/submission.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/input_file.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "base/status.h"
#include "kinds/kinds.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Both paths have no links.
bool IsBelow(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// The file that a link of the folder leads to.
absl::StatusOr<fs::path> TargetOf(const fs::path& link, const fs::path& folder) {
  std::error_code error;
  fs::path target = fs::canonical(link, error);
  if (error) return InvalidInput(link.string(), ": is a link to nowhere: ", error.message());
  if (!IsBelow(target, folder))
    return InvalidInput(link.string(), ": is a link that leads out of the folder; copy the file there");
  if (!fs::is_regular_file(target, error))
    return InvalidInput(link.string(), ": is a link to something that is not a file");
  return target;
}

struct FolderFile {
  std::string name;  // below the folder, with slashes
  std::string path;
};

// All files in the folder and below it, by name. A link to a file of the folder is a file; one that leads out
// of the folder or to another folder is an error, as is everything that is neither file nor folder, and more
// files than a job may have. Errors name the folder or the entry.
absl::StatusOr<std::vector<FolderFile>> FilesOfFolder(const std::string& folder) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  std::vector<FolderFile> files;
  fs::recursive_directory_iterator entries(root, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    const fs::path& path = entries->path();
    const fs::file_status status = entries->symlink_status(error);
    if (error) break;
    if (fs::is_directory(status)) continue;
    if (files.size() == kMostJobFiles)
      return InvalidInput(folder, ": holds more than ", kMostJobFiles,
                          " files, the most that a job may have");
    FolderFile file = {.name = path.lexically_relative(root).generic_string(), .path = path.string()};
    if (fs::is_symlink(status)) {
      ASSIGN_OR_RETURN(const fs::path target, TargetOf(path, root));
      file.path = target.string();
    } else if (!fs::is_regular_file(status)) {
      return InvalidInput(path.string(), ": is neither a file nor a folder");
    }
    files.push_back(std::move(file));
  }
  if (error) return InvalidInput(folder, ": cannot list the folder: ", error.message());
  std::ranges::sort(files, {}, &FolderFile::name);
  return files;
}

// Without a slash at its end, so that it has a name.
fs::path PathOf(const JobSpec& spec, const std::string& text) {
  const fs::path path = fs::absolute(fs::path(spec.base) / text).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

// The id, cut to the longest name, with a dash for each character that a name may not have.
std::string NameOfJob(const JobSpec& spec) {
  constexpr size_t kMostBytes = 64;
  std::string name;
  for (std::string_view left = spec.id; !left.empty() && name.size() < kMostBytes;) {
    const TextCharacter character = FirstCharacter(left);
    const bool is_kept =
        character.bytes == 1 && (absl::ascii_isalnum(static_cast<unsigned char>(left.front())) ||
                                 std::string_view("._-").find(left.front()) != std::string_view::npos);
    name += is_kept ? left.front() : '-';
    left.remove_prefix(character.bytes);
  }
  return name;
}

// The files of a submission, each of which is read once.
class Sources {
 public:
  explicit Sources(const WorkControl& control) : control_(control) {}

  absl::StatusOr<JobFile> Add(const std::string& name, const std::string& path) {
    RETURN_IF_ERROR(CheckJobFileName(name));
    const auto known = by_path_.find(path);
    if (known != by_path_.end()) return Named(name, known->second);
    RETURN_IF_ERROR(control_.Continue("reading files", std::ssize(by_path_)));
    ASSIGN_OR_RETURN(const InputFile file, OpenInputFile(path));
    absl::StatusOr<std::string> digest = Sha256OfFile(file);
    if (!digest.ok()) return Annotate(digest.status(), path);
    by_digest_[*digest] = {.path = path, .bytes = file.bytes};
    by_path_[path] = *digest;
    return Named(name, *digest);
  }

  std::map<std::string, SourceFile>& by_digest() { return by_digest_; }

 private:
  JobFile Named(const std::string& name, const std::string& digest) const {
    return {.name = name, .digest = digest, .bytes = by_digest_.at(digest).bytes};
  }

  const WorkControl control_;
  std::map<std::string, std::string> by_path_;  // their digests
  std::map<std::string, SourceFile> by_digest_;
};

// Makes the body that submits one job.
class JobMaker {
 public:
  JobMaker(const JobSpec& spec, Sources& sources)
      : spec_(spec), kind_(*AllJobKinds().Find(spec.kind)), settings_(Json::object()), sources_(sources) {
    if (!spec.settings.is_null()) settings_ = spec.settings;
  }

  absl::StatusOr<Json> Make() {
    // Before inputs, whose names then are others.
    for (const OutputSetting& output : kind_.outputs)
      RETURN_IF_ERROR(Annotate(NameOutput(output), output.name));
    for (const InputSetting& input : kind_.inputs) RETURN_IF_ERROR(Annotate(TakeInputs(input), input.name));
    RETURN_IF_ERROR(CheckJobFiles(inputs_));
    Json inputs = Json::array();
    for (const JobFile& file : inputs_) inputs.push_back({{"name", file.name}, {"sha256", file.digest}});
    Json job = {{"name", NameOfJob(spec_)}, {"kind", spec_.kind}, {"settings", settings_},
                {"inputs", inputs},         {"on", spec_.on},     {"priority", spec_.priority}};
    if (spec_.deadline_seconds) job["deadline_seconds"] = *spec_.deadline_seconds;
    if (spec_.parts != JobSpec().parts) job["parts"] = spec_.parts;
    return job;
  }

 private:
  // The setting's value; null if it has none.
  Json* Find(std::string_view setting) {
    const auto found = settings_.find(std::string(setting));
    return found == settings_.end() || found->is_null() ? nullptr : &*found;
  }

  absl::Status NameOutput(const OutputSetting& output) {
    const Json* given = Find(output.name);
    if (given == nullptr && output.ending_on_server.empty()) return absl::OkStatus();
    std::string name;
    if (given != nullptr) {
      name = given->get<std::string>();
      if (name.find('/') != std::string::npos)
        return InvalidInput("\"", Printable(name),
                            "\" has a folder; a job on a server names its files without folders, and attune "
                            "jobs result fetches them");
    } else {
      const fs::path input = PathOf(spec_, Find(kind_.inputs.front().name)->get<std::string>());
      name = absl::StrCat(input.stem().string(), output.ending_on_server);
    }
    RETURN_IF_ERROR(CheckJobFileName(name));
    if (!outputs_.insert(name).second) return InvalidInput("\"", name, "\" is written twice");
    settings_[std::string(output.name)] = absl::StrCat(kOutputsFolder, name);
    return absl::OkStatus();
  }

  absl::Status TakeInputs(const InputSetting& input) {
    Json* value = Find(input.name);
    if (value == nullptr) return absl::OkStatus();
    if (!value->is_array()) return TakeInput(input, *value);
    for (Json& item : *value) RETURN_IF_ERROR(TakeInput(input, item));
    return absl::OkStatus();
  }

  // Replaces the path by the name that the file or folder has among the job's files.
  absl::Status TakeInput(const InputSetting& input, Json& value) {
    const std::string text = value.get<std::string>();
    if (text.empty() || text == input.none) return absl::OkStatus();
    const fs::path path = PathOf(spec_, text);
    const std::string folder = absl::StrCat(kInputsFolder, input.name, "/");
    const std::string name = absl::StrCat(folder, path.filename().string());
    RETURN_IF_ERROR(CheckJobFileName(name));
    std::error_code error;
    RETURN_IF_ERROR(fs::is_directory(path, error) ? TakeFolder(path.string(), name)
                                                  : TakeFile(path.string(), name));
    value = name;
    if (input.files_beside == nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::vector<std::string> beside, input.files_beside(path.string()));
    for (const std::string& file : beside) {
      const fs::path own = path.parent_path() / file;
      if (own != path) RETURN_IF_ERROR(TakeFile(own.string(), folder + file));
    }
    return absl::OkStatus();
  }

  absl::Status TakeFolder(const std::string& path, const std::string& name) {
    ASSIGN_OR_RETURN(const std::vector<FolderFile> files, FilesOfFolder(path));
    if (files.empty()) return InvalidInput(path, ": holds no files");
    for (const FolderFile& file : files)
      RETURN_IF_ERROR(TakeFile(file.path, absl::StrCat(name, "/", file.name)));
    return absl::OkStatus();
  }

  absl::Status TakeFile(const std::string& path, const std::string& name) {
    ASSIGN_OR_RETURN(JobFile file, sources_.Add(name, path));
    inputs_.push_back(std::move(file));
    return absl::OkStatus();
  }

  const JobSpec& spec_;
  const JobKind& kind_;
  Json settings_;
  Sources& sources_;
  std::set<std::string> outputs_;
  std::vector<JobFile> inputs_;
};

}  // namespace

absl::StatusOr<PreparedSubmission> PrepareSubmission(const std::vector<JobSpec>& jobs,
                                                     const WorkControl& control) {
  for (const JobSpec& spec : jobs) {
    RETURN_IF_ERROR(AllJobKinds().Check(spec));
    RETURN_IF_ERROR(AllJobKinds().CheckForServer(spec));
  }
  PreparedSubmission submission;
  Sources sources(control);
  for (const JobSpec& spec : jobs) {
    absl::StatusOr<Json> job = JobMaker(spec, sources).Make();
    if (!job.ok()) return Annotate(job.status(), absl::StrCat("job \"", Printable(spec.id), "\""));
    submission.jobs.push_back(*std::move(job));
  }
  submission.sources = std::move(sources.by_digest());
  return submission;
}

}  // namespace attune
