#include "compile/compile.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/str_join.h"
#include "artifact/compress.h"
#include "artifact/writer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "compile/variant.h"
#include "compile/weights.h"
#include "plan/arrange.h"
#include "plan/program.h"
#include "plan/recorded_costs.h"

namespace attune {
namespace {

// The targets of the artifact, the one with the most instruction sets first: it is the better one of two
// that a processor can run.
absl::StatusOr<std::vector<Target>> BestFirst(const CompileOptions& options) {
  std::vector<Target> targets = {options.target};
  for (const Target& target : options.more_targets) {
    if (std::ranges::find(targets, target.name, &Target::name) != targets.end())
      return InvalidInput("the processor ", target.name, " is given twice");
    const auto has_fewer = [&](const Target& other) {
      return other.required_features.size() < target.required_features.size();
    };
    targets.insert(std::ranges::find_if(targets, has_fewer), target);
  }
  return targets;
}

absl::StatusOr<std::string> Write(const std::vector<VariantBuilder>& variants, const LinkedCode& code,
                                  const PlacedWeights& weights, const CompileOptions& options) {
  Manifest manifest;
  std::set<std::string> records;
  for (const VariantBuilder& variant : variants) records.merge(variant.Records());
  manifest.provenance = {options.model_name, options.model_sha256, std::string(kCompilerVersion),
                         options.pass_plan, absl::StrJoin(records, "\n")};
  auto locations = weights.locations.begin();
  for (size_t i = 0; i < variants.size(); ++i) {
    const auto end = locations + std::ssize(variants[i].programs());
    Variant& variant =
        manifest.variants.emplace_back(variants[i].Describe(code, weights.variants[i], {locations, end}));
    for (Program& program : variant.programs)
      program.graph_summary.insert(0, PictureComments(options.pictures));
    locations = end;
  }
  CompressedConstants compressed;
  if (options.compress_constants) compressed = CompressConstants(weights.section, weights.sizes);
  const bool is_compressed = !compressed.ranges.empty();
  manifest.constant_ranges = std::move(compressed.ranges);
  const std::span<const std::byte> section = is_compressed ? compressed.section : weights.section;
  const std::span<const char> code_bytes(code.bytes.data(), code.bytes.size());
  return WriteArtifact({std::move(manifest), std::as_bytes(code_bytes), section});
}

const KernelChooser& ChooserOf(const CompileOptions& options) {
  return options.chooser == nullptr ? AnalyticChooser() : *options.chooser;
}

absl::StatusOr<LayoutOverrides> OverridesFor(const Graph& graph, const CompileOptions& options) {
  if (options.layout_overrides.has_value()) return *options.layout_overrides;
  return ChooseLayoutOverrides(graph, options.target, ChooserOf(options));
}

// The programs of a network with open sizes: one for all of them and, before it, perhaps a faster one for
// large sizes alone.
struct OpenPrograms {
  std::vector<std::unique_ptr<Graph>> graphs;  // at all points, arranged alike
  std::vector<NetworkPlan> plans;
};

// Arranges the graphs as is best for the first, and plans them.
absl::StatusOr<OpenPrograms> ArrangeAndPlanOpen(const std::vector<const Graph*>& graphs,
                                                const CompileOptions& options) {
  const KernelChooser& chooser = ChooserOf(options);
  ASSIGN_OR_RETURN(const LayoutOverrides overrides, OverridesFor(*graphs[0], options));
  OpenPrograms programs;
  std::vector<Graph*> same;
  RecordedCosts costs(chooser);
  for (const Graph* graph : graphs) {
    same.push_back(programs.graphs.emplace_back(graph->Clone()).get());
    costs.Rewind();
    RETURN_IF_ERROR(ArrangeGroups(*same.back(), options.target, overrides, costs).status());
  }
  const auto plan = [&](const std::vector<OpenDim>& dims) {
    return PlanOpenNetwork(same, options.open.points, dims, options.target, chooser);
  };
  ASSIGN_OR_RETURN(NetworkPlan all, plan(options.open.dims));
  programs.plans.push_back(std::move(all));
  // Tiles that must fit do so from some size on.
  for (const int64_t least : std::initializer_list<int64_t>{32, 128, 512}) {
    const size_t slow = programs.plans.front().slow_products.size();
    if (slow == 0) break;
    std::vector<OpenDim> dims = options.open.dims;
    for (OpenDim& dim : dims) {
      if (dim.likely >= 32) dim.min = std::clamp(least, dim.min, dim.max);
    }
    ASSIGN_OR_RETURN(NetworkPlan larger, plan(dims));
    if (larger.slow_products.size() < slow) programs.plans.insert(programs.plans.begin(), std::move(larger));
  }
  const std::vector<std::string>& slow = programs.plans.front().slow_products;
  if (options.open_must_be_fast && !slow.empty())
    return NotSupported("with open sizes, plain loops would compute ", slow[0]);
  return programs;
}

}  // namespace

absl::StatusOr<NetworkPlan> ArrangeAndPlan(Graph& graph, const CompileOptions& options) {
  const KernelChooser& chooser = ChooserOf(options);
  ASSIGN_OR_RETURN(const LayoutOverrides overrides, OverridesFor(graph, options));
  RETURN_IF_ERROR(ArrangeGroups(graph, options.target, overrides, chooser).status());
  return PlanNetwork(graph, options.target, chooser);
}

absl::StatusOr<std::string> Compile(const std::vector<const Graph*>& graphs, const CompileOptions& options,
                                    CompileReport* report) {
  CompileReport local;
  CompileReport& times = report == nullptr ? local : *report;
  times = CompileReport();
  Stopwatch watch;
  std::vector<VariantBuilder> variants;
  ASSIGN_OR_RETURN(std::vector<Target> targets, BestFirst(options));
  for (Target& target : targets) {
    CompileOptions of_target = options;
    of_target.target = target;
    VariantBuilder& variant = variants.emplace_back(std::move(target));
    if (!options.open.empty()) {
      RETURN_IF_ERROR(options.control.Continue("planning"));
      ASSIGN_OR_RETURN(OpenPrograms programs, ArrangeAndPlanOpen(graphs, of_target));
      if (times.contractions.empty()) {
        ASSIGN_OR_RETURN(times.contractions, ListContractions(programs.plans[0], of_target.target));
        times.slow_products = programs.plans[0].slow_products;
      }
      for (NetworkPlan& plan : programs.plans) variant.Add(programs.graphs[0]->Clone(), std::move(plan));
      continue;
    }
    for (const Graph* graph : graphs) {
      RETURN_IF_ERROR(options.control.Continue("planning"));
      std::unique_ptr<Graph> arranged = graph->Clone();
      ASSIGN_OR_RETURN(NetworkPlan plan, ArrangeAndPlan(*arranged, of_target));
      if (times.contractions.empty()) {
        ASSIGN_OR_RETURN(times.contractions, ListContractions(plan, of_target.target));
      }
      variant.Add(std::move(arranged), std::move(plan));
    }
  }
  times.plan_seconds = watch.Lap();

  std::vector<PlanOfVariant> plans;
  for (size_t i = 0; i < variants.size(); ++i) {
    for (const PlannedProgram& program : variants[i].programs()) plans.push_back({&program.plan, i});
  }
  RETURN_IF_ERROR(options.control.Continue("packing weights"));
  ASSIGN_OR_RETURN(PlacedWeights weights, PlaceWeights(plans, variants.size(), options.jobs));
  times.pack_seconds = watch.Lap();

  std::vector<const std::string*> objects;
  for (size_t i = 0; i < variants.size(); ++i) {
    VariantBuilder& variant = variants[i];
    RETURN_IF_ERROR(variant.Compile(std::move(weights.variants[i].kernels), !options.dump_folder.empty(),
                                    options.jobs, options.control));
    if (!options.dump_folder.empty()) RETURN_IF_ERROR(variant.Dump(options.dump_folder));
    times.num_kernels += variant.num_kernels();
    times.num_measured += variant.CountBy(ChosenBy::kRecords);
    times.num_similar += variant.CountBy(ChosenBy::kSimilarRecords);
    times.num_changed += variant.CountChanged();
    std::ranges::copy(variant.Objects(), std::back_inserter(objects));
  }
  times.codegen_seconds = watch.Lap();
  RETURN_IF_ERROR(options.control.Continue("linking"));
  ASSIGN_OR_RETURN(const LinkedCode code, Link(objects));
  times.link_seconds = watch.Lap();
  Log(LogLevel::kDebug, "compiled", "model", options.model_name, "kernels", times.num_kernels, "plan_seconds",
      times.plan_seconds, "pack_seconds", times.pack_seconds, "codegen_seconds", times.codegen_seconds,
      "link_seconds", times.link_seconds);
  return Write(variants, code, weights, options);
}

}  // namespace attune
