#include "api/pipeline.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "api/givens.h"
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

absl::Status QuantizeAt(const Givens& givens, const NetworkSource& source, const CompileRequest& request,
                        StageSeconds& seconds, Network& network) {
  ASSIGN_OR_RETURN(const QuantizeOptions options, QuantizeOptionsFor(request, source.samples));
  const Stopwatch watch;
  network = network.Quantize(givens.samples, options);
  seconds.quantize += watch.Seconds();
  return network.status();
}

// The model as it is in its file, quantized if the request asks for that, and the values of its inputs.
absl::StatusOr<ReadyNetwork> ImportModel(OpenedModel& model, const std::vector<std::string>& shapes,
                                         const NetworkSource& source, const CompileRequest& request,
                                         StageSeconds& seconds) {
  const SampleSettings* samples = request.is_quantized() ? &source.samples : nullptr;
  ASSIGN_OR_RETURN(Givens givens, ReadGivens(model, shapes, source.inputs, samples, request.control));
  givens.options.leaves_open = source.leaves_open && source.shape_sets.empty() && !request.is_quantized();
  const Stopwatch watch;
  ReadyNetwork ready = {Network::Load(model, givens.options), std::move(givens.inputs.values)};
  seconds.load += watch.Seconds();
  RETURN_IF_ERROR(ready.network.status());
  NoteRawPictures(givens, ready.network, source.inputs.note);
  for (const auto& [name, seed] : givens.inputs.random) {
    ASSIGN_OR_RETURN(Tensor tensor, ready.network.RandomInput(name, seed));
    ready.inputs.push_back({name, std::move(tensor)});
  }
  if (request.is_quantized()) RETURN_IF_ERROR(QuantizeAt(givens, source, request, seconds, ready.network));
  return ready;
}

// At each of the source's sets of shapes, of which there is at least one.
absl::StatusOr<std::vector<ReadyNetwork>> ImportAllShapes(OpenedModel model, const NetworkSource& source,
                                                          const CompileRequest& request,
                                                          StageSeconds& seconds) {
  std::vector<ReadyNetwork> imported;
  for (size_t i = 0; i < std::max<size_t>(source.shape_sets.size(), 1); ++i) {
    std::vector<std::string> shapes = source.shapes;
    if (!source.shape_sets.empty()) std::ranges::copy(source.shape_sets[i], std::back_inserter(shapes));
    ASSIGN_OR_RETURN(ReadyNetwork ready, ImportModel(model, shapes, source, request, seconds));
    imported.push_back(std::move(ready));
  }
  return imported;
}

}  // namespace

absl::StatusOr<QuantizeOptions> QuantizeOptionsFor(const CompileRequest& request,
                                                   const SampleSettings& samples,
                                                   const QuantizeSettings& settings) {
  ASSIGN_OR_RETURN(const Target target, TargetOf(request));
  QuantizeOptions options;
  static_cast<QuantizeSettings&>(options) = settings;
  options.is_mixed = request.precision == Precision::kAuto;
  // Choices generalize better if more samples check them.
  if (options.is_mixed) options.held_back_period = 2;
  if (MissingForDotsOfBF16(target).empty())
    options.fallbacks = {quant::Precision::kBF16, quant::Precision::kF32};
  options.max_drop = samples.max_drop;
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
  options.tuning.records = request.records;
  options.tuning.threads = ThreadsOf(request);
  options.compress_constants = request.compresses_weights();
}

absl::StatusOr<ReadyNetwork> OptimizeModel(OpenedModel model, const NetworkSource& source,
                                           const CompileRequest& request) {
  StageSeconds seconds;
  ASSIGN_OR_RETURN(std::vector<ReadyNetwork> imported,
                   ImportAllShapes(std::move(model), source, request, seconds));
  ReadyNetwork ready = std::move(imported.front());
  RETURN_IF_ERROR(TargetOf(request).status());
  ASSIGN_OR_RETURN(ready.network, OptimizeFor(ready.network, request, ready.inputs));
  return ready;
}

absl::StatusOr<ReadyNetwork> CompileModel(OpenedModel model, const NetworkSource& source,
                                          const CompileRequest& request, StageSeconds* seconds) {
  StageSeconds local;
  StageSeconds& times = seconds == nullptr ? local : *seconds;
  ASSIGN_OR_RETURN(std::vector<ReadyNetwork> imported,
                   ImportAllShapes(std::move(model), source, request, times));
  ReadyNetwork ready = std::move(imported.front());
  if (ready.network.is_compiled()) return ready;
  // An error in the processors or the records is found before the work.
  ASSIGN_OR_RETURN(std::vector<Target> targets, TargetsOf(request));
  ASSIGN_OR_RETURN(const std::shared_ptr<const KernelChooser> chooser, ChooserOf(request));
  Stopwatch watch;
  ASSIGN_OR_RETURN(Network optimized, OptimizeFor(ready.network, request, ready.inputs));
  for (size_t i = 1; i < imported.size(); ++i) {
    ASSIGN_OR_RETURN(const Network at_others, OptimizeFor(imported[i].network, request, ready.inputs));
    optimized = optimized.WithShapesOf(at_others);
  }
  times.optimize += watch.Lap();
  ASSIGN_OR_RETURN(ready.network, CompileWith(optimized, request, std::move(targets), chooser.get()));
  times.compile += watch.Lap();
  return ready;
}

absl::StatusOr<std::vector<PlannedContraction>> PlanContractions(OpenedModel model,
                                                                 const NetworkSource& source,
                                                                 const CompileRequest& request) {
  ASSIGN_OR_RETURN(const ReadyNetwork ready, OptimizeModel(std::move(model), source, request));
  RETURN_IF_ERROR(request.control.Continue("planning"));
  CompileOptions options;
  ASSIGN_OR_RETURN(options.target, TargetOf(request));
  ASSIGN_OR_RETURN(const std::shared_ptr<const KernelChooser> chooser, ChooserOf(request));
  options.chooser = chooser.get();
  return ready.network.Contractions(options);
}

}  // namespace attune
