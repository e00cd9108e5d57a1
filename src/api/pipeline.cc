#include "api/pipeline.h"

#include <iterator>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/status.h"

namespace attune {
namespace {

absl::StatusOr<Network> CompileWith(const Network& optimized, const CompileRequest& request,
                                    std::vector<Target> targets, const KernelChooser* chooser) {
  CompileOptions options;
  options.target = std::move(targets.front());
  options.more_targets.assign(std::make_move_iterator(targets.begin() + 1),
                              std::make_move_iterator(targets.end()));
  options.dump_folder = request.dump_folder;
  options.jobs = request.jobs;
  options.chooser = chooser;
  options.compress_constants = request.compresses_weights();
  options.control = request.control;
  RETURN_IF_ERROR(request.control.Continue("compiling"));
  Network compiled = optimized.Compile(std::move(options));
  RETURN_IF_ERROR(compiled.status());
  return compiled;
}

}  // namespace

absl::StatusOr<QuantizeOptions> QuantizeOptionsFor(const CompileRequest& request,
                                                   const SampleOptions& samples) {
  ASSIGN_OR_RETURN(const Target target, TargetOf(request));
  QuantizeOptions options;
  options.is_mixed = request.precision == Precision::kAuto;
  // Choices generalize better if more samples check them.
  if (options.is_mixed) options.held_back_period = 2;
  if (MissingForDotsOfBF16(target).empty())
    options.fallbacks = {quant::Precision::kBF16, quant::Precision::kF32};
  options.max_drop = *ParseShare(samples.max_drop);
  if (!samples.agreement.empty()) options.criterion = *quant::FindCriterion(samples.agreement);
  options.measures_seconds = request.is_for_this_machine();
  options.threads = request.threads;
  options.control = request.control;
  return options;
}

absl::StatusOr<Network> OptimizeFor(const Network& imported, const CompileRequest& request,
                                    const std::vector<NamedTensor>& examples) {
  RETURN_IF_ERROR(imported.status());
  RETURN_IF_ERROR(TargetsOf(request).status());
  ASSIGN_OR_RETURN(PassPlan plan, PassPlanOf(request));
  RETURN_IF_ERROR(request.control.Continue("optimizing"));
  Network optimized = imported.Optimize(std::move(plan), {.dump_folder = request.dump_folder,
                                                          .measure = request.is_for_this_machine(),
                                                          .examples = examples,
                                                          .jobs = request.jobs,
                                                          .control = request.control});
  RETURN_IF_ERROR(optimized.status());
  return optimized;
}

absl::StatusOr<Network> CompileFor(const Network& optimized, const CompileRequest& request) {
  ASSIGN_OR_RETURN(std::vector<Target> targets, TargetsOf(request));
  ASSIGN_OR_RETURN(const std::shared_ptr<const KernelChooser> chooser, ChooserOf(request));
  return CompileWith(optimized, request, std::move(targets), chooser.get());
}

void SetRequest(const CompileRequest& request, TuneOptions& options) {
  options.service = request.service;
  options.records = request.records;
  options.tuning.threads = ThreadsOf(request);
  options.compress_constants = request.compresses_weights();
}

absl::StatusOr<Network> OptimizeAndCompileFor(const std::vector<Network>& imported,
                                              const CompileRequest& request,
                                              const std::vector<NamedTensor>& examples,
                                              StageSeconds& seconds) {
  // Whatever is wrong with these is found before the work.
  ASSIGN_OR_RETURN(std::vector<Target> targets, TargetsOf(request));
  ASSIGN_OR_RETURN(const std::shared_ptr<const KernelChooser> chooser, ChooserOf(request));
  Stopwatch watch;
  ASSIGN_OR_RETURN(Network optimized, OptimizeFor(imported.front(), request, examples));
  for (size_t i = 1; i < imported.size(); ++i) {
    ASSIGN_OR_RETURN(const Network at_others, OptimizeFor(imported[i], request, examples));
    optimized = optimized.WithShapesOf(at_others);
  }
  seconds.optimize = watch.Lap();
  absl::StatusOr<Network> compiled = CompileWith(optimized, request, std::move(targets), chooser.get());
  seconds.compile = watch.Lap();
  return compiled;
}

}  // namespace attune
