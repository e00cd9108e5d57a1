#include "jobs/kind.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status.h"
#include "jobs/kinds/kinds.h"

namespace attune {

std::span<const JobKind> AllJobKinds() {
  static constexpr std::array<JobKind, 4> kKinds = {{
      {"tuning", "finds faster kernels for a model", CheckTuningJob, OpenTuningJob, ForeseeDeviceThreads,
       SubjectOf},
      {"quantization", "compares ways to quantize a model", CheckQuantizationSweep, OpenQuantizationSweep,
       ForeseeDeviceThreads, SubjectOf},
      {"program", "any program that speaks the job protocol", CheckProgramJob, OpenProgramJob, nullptr,
       SubjectOf},
      {"mock", "does nothing, for declared or drawn durations", CheckMockJob, OpenMockJob, ForeseeMockJob,
       SubjectOf},
  }};
  return kKinds;
}

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

}  // namespace

absl::Status CheckSpec(const JobSpec& spec) {
  const std::string job = absl::StrCat("job \"", Printable(spec.id), "\"");
  const JobKind* kind = FindJobKind(spec.kind);
  RETURN_IF_ERROR(Annotate(CheckTexts(spec), job));
  if (kind != nullptr) return Annotate(kind->check(spec), job);
  const auto name = [](std::string* out, const JobKind& known) { out->append(known.name); };
  return InvalidInput(job, ": there is no kind \"", Printable(spec.kind), "\"; there are ",
                      absl::StrJoin(AllJobKinds(), ", ", name));
}

}  // namespace attune
