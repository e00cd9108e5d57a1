#include "kinds/kinds.h"

#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "api/opened_model.h"
#include "base/status.h"
#include "kinds/kind_functions.h"

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

const JobKinds& AllJobKinds() {
  static constexpr std::array<JobKind, 4> kRows = {{
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
  static constexpr JobKinds kKinds(kRows);
  return kKinds;
}

}  // namespace attune
