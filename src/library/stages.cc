// Optimizing and compiling as the public options ask for it.
#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/records.h"
#include "base/status.h"
#include "device/host.h"
#include "library/convert.h"
#include "library/network_state.h"
#include "opt/pass_plan.h"
#include "target/target.h"

namespace attune::compiler {
namespace {

absl::Status CheckPrecision(Precision precision, const Target& target) {
  std::string_view name, missing;
  if (precision == Precision::kBF16)
    std::tie(name, missing) = std::pair("bf16", MissingForDotsOfBF16(target));
  if (precision == Precision::kBF16x3)
    std::tie(name, missing) = std::pair("bf16x3", MissingForMatricesOfBF16(target));
  if (missing.empty()) return absl::OkStatus();
  return NotSupported("NS precision ", name, ": ", target.name, " has no ", missing, "; take f32");
}

absl::StatusOr<PassPlan> PlanOf(const OptimizeOptions& options) {
  PassPlan plan = DefaultPlan();
  if (!options.passes.empty()) {
    ASSIGN_OR_RETURN(plan, ParsePassPlan(options.passes));
  }
  if (options.precision == Precision::kBF16) RETURN_IF_ERROR(SetBF16(plan));
  if (options.precision == Precision::kBF16x3) RETURN_IF_ERROR(SetBF16x3(plan));
  if (options.weights == Weights::kF16) RETURN_IF_ERROR(SetWeights(plan, DType::kF16));
  if (options.weights == Weights::kBF16) RETURN_IF_ERROR(SetWeights(plan, DType::kBF16));
  if (options.unchecked_indices) SetUncheckedIndices(plan);
  return plan;
}

// The targets with these names, or the device's.
std::vector<Target> TargetsOf(const std::vector<std::string>& cpus, const MeasuringService* service) {
  std::vector<Target> targets;
  for (const std::string& cpu : cpus) targets.push_back(Value(TargetByName(cpu)));
  if (targets.empty()) targets.push_back(TargetOf(service));
  return targets;
}

// Null: the strategies' cost models choose.
std::shared_ptr<const KernelChooser> ChooserOf(const CompileOptions& options,
                                               const MeasuringService* service) {
  // Records describe devices, not processors of a name.
  if (!options.cpus.empty() || options.records == "none") return nullptr;
  const std::string fingerprint = service == nullptr ? DeviceFingerprint() : service->device().fingerprint;
  auto chooser = LoadRecordChooser(options.records, fingerprint, std::max(1, options.threads));
  // Nobody has asked for the user's own records.
  if (!chooser.ok() && options.records.empty()) return nullptr;
  return Value(std::move(chooser));
}

}  // namespace

Target TargetOf(const MeasuringService* service) {
  return service == nullptr ? Value(HostTarget()) : service->device().target;
}

attune::Network OptimizeAs(const attune::Network& imported, const OptimizeOptions& options,
                           const MeasuringService* service) {
  Check(imported.status());
  Check(CheckPrecision(options.precision, TargetOf(service)));
  Following following(options.control);
  attune::OptimizeOptions optimizing;
  optimizing.measure = service == nullptr;
  optimizing.examples = ToOwn(options.examples);
  optimizing.control = following.work();
  const attune::Network optimized = imported.Optimize(Value(PlanOf(options)), optimizing);
  Check(optimized.status());
  return optimized;
}

attune::Network CompileAs(const attune::Network& optimized, const CompileOptions& options, Weights weights,
                          const MeasuringService* service) {
  Following following(options.control);
  const std::shared_ptr<const KernelChooser> chooser = ChooserOf(options, service);
  std::vector<Target> targets = TargetsOf(options.cpus, service);
  attune::CompileOptions compiling;
  compiling.target = targets.front();
  compiling.more_targets.assign(targets.begin() + 1, targets.end());
  compiling.jobs = 0;
  compiling.chooser = chooser.get();
  compiling.compress_constants = options.compresses_weights || weights != Weights::kF32;
  compiling.control = following.work();
  const attune::Network compiled = optimized.Compile(compiling);
  Check(compiled.status());
  return compiled;
}

}  // namespace attune::compiler
