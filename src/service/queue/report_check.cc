#include "service/queue/report_check.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "artifact/reader.h"
#include "base/dtype.h"
#include "base/json_at.h"
#include "base/json_object.h"
#include "base/printable.h"
#include "base/status.h"
#include "kinds/kinds.h"
#include "measure/blob.h"
#include "service/wire/checked_messages.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

// A job has no device for itself but its own.
absl::Status CheckNeeds(const std::string& on, const RunnerStageEnded& ended) {
  if (!ended.next.has_value()) return absl::OkStatus();
  for (const ResourceNeed& need : ended.next->needs) {
    // A job that measures on a remote device gets the device that it was submitted for, whatever name its
    // stage uses.
    const bool is_its_own = need.key == kProcessorsKey || !on.empty();
    if (need.exclusive && !is_its_own)
      return InvalidInput("the next stage wants \"", Printable(need.key),
                          "\" for itself, and the job measures on no device");
  }
  return absl::OkStatus();
}

using Json = nlohmann::json;

constexpr char kModelSetting[] = "/model", kOutputSetting[] = "/output";
constexpr std::string_view kArtifactEnding = ".atn";

// The artifact that the job's result names.
struct Built {
  std::string digest, network, interface;
  int64_t bytes = 0;
};

absl::StatusOr<Built> BuiltOfResult(const std::string& result) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonObject<Json>(result));
  try {
    const Json& artifact = json.at("artifact");
    Built built = {.digest = artifact.at("sha256"),
                   .network = artifact.at("network"),
                   .interface = artifact.at("interface"),
                   .bytes = artifact.at("bytes")};
    if (!json.contains("judged")) return built;
    const Json& judged = json["judged"];
    const bool is_the_same = judged.at("network") == built.network &&
                             judged.at("interface") == built.interface &&
                             judged.at("artifact_bytes") == built.bytes;
    if (!is_the_same) return InvalidInput("the job has built another network than it has judged");
    return built;
  } catch (const Json::exception&) {
    return InvalidInput("the job's result names no artifact");
  }
}

// A line of Network::Interface(), without the shape if that depends on data: its bounds may have become
// tighter.
std::string_view Comparable(std::string_view line) {
  return absl::StrContains(line, "<=") ? line.substr(0, line.rfind('[')) : line;
}

bool Declares(const Program& program, const std::string& interface) {
  std::vector<std::string> declared;
  const auto declare = [&](std::string_view which, const std::vector<Port>& ports) {
    for (const Port& port : ports) {
      const TensorInfo& tensor = program.tensors[port.tensor];
      declared.push_back(absl::StrCat(which, " ", port.name, " ", DTypeName(static_cast<DType>(tensor.dtype)),
                                      "[", absl::StrJoin(tensor.shape, ","), "]"));
    }
  };
  declare("input", program.inputs);
  declare("output", program.outputs);
  const std::vector<std::string_view> lines = absl::StrSplit(interface, '\n', absl::SkipEmpty());
  return std::ranges::equal(lines, declared, [](std::string_view line, std::string_view artifacts) {
    const std::string_view shown = Comparable(line);
    return shown.size() == line.size() ? artifacts == line
                                       : artifacts.substr(0, artifacts.rfind('[')) == shown;
  });
}

// The digest of the file that the artifact names as its model; empty if the job has none of that name.
std::string ModelDigestOf(const JobSpec& spec, const std::vector<JobFile>& files) {
  const std::string model = TextAt(spec.settings, kModelSetting);
  for (const std::string& name : {model, model + "/saved_model.pb"}) {
    const auto file = std::ranges::find(files, name, &JobFile::name);
    if (file != files.end()) return file->digest;
  }
  return "";
}

absl::Status CheckFile(const JobSpec& spec, const std::vector<JobFile>& files, const JobFile& file,
                       const Built& built, const std::string& owner, BlobStore& store) {
  if (file.bytes != built.bytes)
    return InvalidInput("is not the artifact that the job has built: it has ", file.bytes, " bytes, and not ",
                        built.bytes);
  if (file.digest != built.digest)
    return InvalidInput("is not the artifact that the job has built: its digest is ", file.digest,
                        ", and not ", built.digest);
  ASSIGN_OR_RETURN(const auto blob, store.Read(owner, file.digest));
  ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Map(blob.first.get()));
  ArtifactView view;
  if (const ArtifactError error = ParseArtifact(mapped.bytes(), &view); !error.ok())
    return InvalidInput(error.message);
  if (view.manifest.provenance.model_sha256 != ModelDigestOf(spec, files))
    return InvalidInput("is the artifact of another model than the job's");
  if (!Declares(view.manifest.variants.front().programs.front(), built.interface))
    return InvalidInput("has other inputs and outputs than the network that the job has built");
  return absl::OkStatus();
}

// Names that the job's settings give to what it writes.
bool IsNamed(const JobSpec& spec, const std::string& name) {
  const JobKind* kind = AllJobKinds().Find(spec.kind);
  return std::ranges::any_of(kind->outputs, [&](const OutputSetting& output) {
    return TextAt(spec.settings, absl::StrCat("/", output.name)) == name;
  });
}

}  // namespace

std::optional<std::string> ArtifactNameOf(const JobSpec& spec) {
  if (spec.kind != "tuning" || spec.part != 0) return std::nullopt;
  const std::string name = TextAt(spec.settings, kOutputSetting);
  return name.empty() ? std::nullopt : std::optional(name);
}

absl::Status CheckBuiltArtifact(const JobSpec& spec, const std::vector<JobFile>& files,
                                const std::string& result, const std::string& owner, BlobStore& store) {
  if (spec.kind != "tuning") return absl::OkStatus();
  for (const JobFile& file : files) {
    const bool looks_like_one = file.name.starts_with(kOutputsFolder) && file.name.ends_with(kArtifactEnding);
    if (looks_like_one && !IsNamed(spec, file.name))
      return InvalidInput(file.name, ": is not a file that the job makes");
  }
  const std::optional<std::string> name = ArtifactNameOf(spec);
  if (!name) return absl::OkStatus();
  const auto file = std::ranges::find(files, *name, &JobFile::name);
  if (file == files.end()) return absl::OkStatus();
  const absl::StatusOr<Built> built = BuiltOfResult(result);
  if (!built.ok()) return Annotate(built.status(), *name);
  return Annotate(CheckFile(spec, files, *file, *built, owner, store), *name);
}

absl::Status ReportCheck::Complete(const JobSupplies& supplies, const std::string& on,
                                   const std::vector<JobFile>& made, RunnerStageEnded& ended) const {
  if (!ended.status.ok()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckMade(ended));
  RETURN_IF_ERROR(CheckNeeds(on, ended));
  std::vector<JobFile> files;
  std::ranges::copy_if(supplies.files, std::back_inserter(files),
                       [](const JobFile& file) { return file.name.starts_with(kInputsFolder); });
  files.insert(files.end(), made.begin(), made.end());
  RETURN_IF_ERROR(CheckJobFiles(files));
  for (const JobFile& file : made) {
    const auto blob = files_.Read(supplies.files_owner, file.digest);
    if (!blob.ok() || blob->second != file.bytes)
      return InvalidInput(file.name, ": the runner has not sent it");
  }
  // Not earlier: the runner would not know the files again.
  if (!ended.next.has_value()) RETURN_IF_ERROR(TakeArtifact(supplies, ended.result, files));
  ended.files = std::move(files);
  return absl::OkStatus();
}

absl::Status ReportCheck::TakeArtifact(const JobSupplies& supplies, const std::string& result,
                                       std::vector<JobFile>& files) const {
  RETURN_IF_ERROR(CheckBuiltArtifact(supplies.spec, files, result, supplies.files_owner, files_));
  const std::optional<std::string> name = ArtifactNameOf(supplies.spec);
  if (signer_ == nullptr || !name) return absl::OkStatus();
  return signer_->SignFile(supplies.spec.owner, *name, supplies.files_owner, files_, files);
}

}  // namespace attune
