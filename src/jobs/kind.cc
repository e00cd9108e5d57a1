#include "jobs/kind.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/opened_model.h"
#include "base/printable.h"
#include "base/status.h"
#include "jobs/kinds/kinds.h"

namespace attune {
namespace {

absl::StatusOr<std::vector<std::string>> FilesBesideModel(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return std::vector<std::string>();  // it has all of them
  ASSIGN_OR_RETURN(const OpenedModel model, OpenedModel::Open(path));
  return model.FilesBeside();
}

constexpr InputSetting kTuningInputs[] = {
    {"model", "", FilesBesideModel}, {"cost_model", "none"}, {"start_records"}, {"replay"}};
constexpr OutputSetting kTuningOutputs[] = {
    {"output", ".atn"}, {"report", ".html"}, {"json"}, {"events"}, {"records", ".db"}};

constexpr InputSetting kQuantizationInputs[] = {{"model", "", FilesBesideModel}, {"data"}};
constexpr OutputSetting kQuantizationOutputs[] = {{"output", "-quantized"}, {"json"}};

constexpr InputSetting kProgramInputs[] = {{"files"}};
constexpr PlacedSetting kProgramLocal[] = {
    {"command",
     "is for jobs on this machine; a server's runners run only programs that their operators have "
     "listed, so give program: NAME"}};
constexpr PlacedSetting kProgramRemote[] = {
    {"program", "is the name of a program on a server's runners; on this machine, give command"}};

}  // namespace

std::span<const JobKind> AllJobKinds() {
  static constexpr std::array<JobKind, 4> kKinds = {{
      {"tuning", "finds faster kernels for a model", CheckTuningJob, OpenTuningJob, ForeseeDeviceThreads,
       SubjectOf, kTuningInputs, kTuningOutputs, /*local=*/{}, /*remote=*/{}, /*can_be_split=*/true},
      {"quantization", "compares ways to quantize a model", CheckQuantizationSweep, OpenQuantizationSweep,
       ForeseeDeviceThreads, SubjectOf, kQuantizationInputs, kQuantizationOutputs},
      {"program",
       "any program that speaks the job protocol",
       CheckProgramJob,
       OpenProgramJob,
       nullptr,
       SubjectOf,
       kProgramInputs,
       {},
       kProgramLocal,
       kProgramRemote},
      {"mock", "does nothing, for declared or drawn durations", CheckMockJob, OpenMockJob, ForeseeMockJob,
       SubjectOf,
       /*inputs=*/{},
       /*outputs=*/{},
       /*local=*/{},
       /*remote=*/{},
       /*can_be_split=*/true},
  }};
  return kKinds;
}

std::string PartFolder(int part) { return absl::StrCat("parts/", part, "/"); }

const JobKind* FindJobKind(std::string_view name) {
  const std::span<const JobKind> kinds = AllJobKinds();
  const auto found = std::ranges::find(kinds, name, &JobKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

namespace {

// Specs are stored and sent as JSON, which has no other texts.
absl::Status CheckTexts(const JobSpec& spec) {
  try {
    std::ignore = nlohmann::json({spec.id, spec.kind, spec.owner, spec.base, spec.settings}).dump();
  } catch (const nlohmann::json::exception&) {
    return InvalidInput("a setting, or the name of its folder, is not text in UTF-8");
  }
  return absl::OkStatus();
}

std::string NameOf(const JobSpec& spec) { return absl::StrCat("job \"", Printable(spec.id), "\""); }

absl::Status RefuseSettings(const JobSpec& spec, std::span<const PlacedSetting> settings) {
  for (const PlacedSetting& setting : settings) {
    if (spec.settings.is_object() && spec.settings.contains(std::string(setting.name)))
      return InvalidInput(NameOf(spec), ": ", setting.name, ": ", setting.why_not);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSpec(const JobSpec& spec) {
  const std::string job = NameOf(spec);
  const JobKind* kind = FindJobKind(spec.kind);
  RETURN_IF_ERROR(Annotate(CheckTexts(spec), job));
  if (kind != nullptr) return Annotate(kind->check(spec), job);
  const auto name = [](std::string* out, const JobKind& known) { out->append(known.name); };
  return InvalidInput(job, ": there is no kind \"", Printable(spec.kind), "\"; there are ",
                      absl::StrJoin(AllJobKinds(), ", ", name));
}

absl::Status CheckForThisMachine(const JobSpec& spec) {
  if (spec.parts > 1)
    return InvalidInput(NameOf(spec), ": parts: is for jobs on a server, which has several devices");
  return RefuseSettings(spec, FindJobKind(spec.kind)->remote);
}

absl::Status CheckForServer(const JobSpec& spec) {
  return RefuseSettings(spec, FindJobKind(spec.kind)->local);
}

}  // namespace attune
