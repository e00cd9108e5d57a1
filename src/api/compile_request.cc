#include "api/compile_request.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/records.h"
#include "api/target_device.h"
#include "base/processors.h"
#include "base/status.h"

namespace attune {
namespace {

// Fails if the processor lacks instructions that the precision needs.
absl::Status CheckTarget(Precision precision, const Target& target) {
  const std::string_view dots = MissingForDotsOfBF16(target), matrices = MissingForMatricesOfBF16(target);
  if (precision == Precision::kBF16 && !dots.empty())
    return NotSupported(kNotSupportedMark, "precision bf16: ", target.name, " has no ", dots,
                        "; take fp32, or weights of bf16, which are stored in 16 bits");
  if (precision == Precision::kBF16x3 && !matrices.empty())
    return NotSupported(kNotSupportedMark, "precision bf16x3: ", target.name, " has no ", matrices,
                        ", without which three products of bf16 take longer than one of fp32; take fp32");
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPrecision(Precision precision) {
  if (precision != Precision::kF16) return absl::OkStatus();
  return NotSupported(
      kNotSupportedMark,
      "precision fp16: this processor's kernels do not compute in it; take weights of fp16, which are "
      "stored in 16 bits, or precision bf16, which computes in 16 bits");
}

int ThreadsOf(const CompileRequest& request) {
  if (request.threads > 0) return request.threads;
  return request.service == nullptr ? Processors()
                                    : static_cast<int>(request.service->device().usable.size());
}

absl::StatusOr<PassPlan> PassPlanOf(const CompileRequest& request) {
  const auto named = [&request](const absl::Status& status) {
    return request.passes_source.empty() ? status : Annotate(status, request.passes_source);
  };
  PassPlan plan = DefaultPlan();
  if (request.passes.has_value()) {
    absl::StatusOr<PassPlan> given = ParsePassPlan(*request.passes);
    if (!given.ok()) return named(given.status());
    plan = *std::move(given);
  }
  if (request.precision == Precision::kBF16) RETURN_IF_ERROR(named(SetBF16(plan)));
  if (request.precision == Precision::kBF16x3) RETURN_IF_ERROR(named(SetBF16x3(plan)));
  if (request.weights != DType::kF32) RETURN_IF_ERROR(named(SetWeights(plan, request.weights)));
  if (request.unchecked_indices) SetUncheckedIndices(plan);
  return plan;
}

absl::StatusOr<std::vector<Target>> TargetsOf(const CompileRequest& request) {
  RETURN_IF_ERROR(CheckPrecision(request.precision));
  std::vector<Target> targets;
  for (const std::string& cpu : request.cpus) {
    ASSIGN_OR_RETURN(targets.emplace_back(), TargetByName(cpu));
  }
  if (targets.empty()) {
    ASSIGN_OR_RETURN(targets.emplace_back(), TargetOfDevice(request.service.get()));
  }
  for (const Target& target : targets) RETURN_IF_ERROR(CheckTarget(request.precision, target));
  return targets;
}

absl::StatusOr<Target> TargetOf(const CompileRequest& request) {
  ASSIGN_OR_RETURN(std::vector<Target> targets, TargetsOf(request));
  if (targets.size() == 1) return std::move(targets.front());
  return InvalidInput("processors ", absl::StrJoin(request.cpus, ","),
                      ": several are for compiling, without int8 and auto; give one");
}

absl::StatusOr<std::shared_ptr<const KernelChooser>> ChooserOf(const CompileRequest& request) {
  // Records describe devices, not processors of a name.
  if (!request.cpus.empty() || request.records == "none") return nullptr;
  absl::StatusOr<std::shared_ptr<const KernelChooser>> chooser =
      LoadRecordChooser(request.records, FingerprintOfDevice(request.service.get()), ThreadsOf(request));
  if (chooser.ok() || !request.records.empty()) return chooser;
  if (request.note)
    request.note(absl::StrCat("compiled without records: ", std::string(chooser.status().message())));
  return nullptr;
}

}  // namespace attune
