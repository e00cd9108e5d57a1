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

// Arranges the graphs of a network with open sizes alike, as is best for the first, and plans it. Leaves that
// graph in `arranged`.
absl::StatusOr<NetworkPlan> ArrangeAndPlanOpen(const std::vector<const Graph*>& graphs,
                                               const CompileOptions& options,
                                               std::unique_ptr<Graph>& arranged) {
  const KernelChooser& chooser = ChooserOf(options);
  ASSIGN_OR_RETURN(const LayoutOverrides overrides, OverridesFor(*graphs[0], options));
  std::vector<std::unique_ptr<Graph>> copies;
  std::vector<Graph*> same;
  for (const Graph* graph : graphs) {
    same.push_back(copies.emplace_back(graph->Clone()).get());
    RETURN_IF_ERROR(ArrangeGroups(*same.back(), options.target, overrides, chooser).status());
  }
  ASSIGN_OR_RETURN(NetworkPlan plan,
                   PlanOpenNetwork(same, options.open.points, options.open.dims, options.target, chooser));
  arranged = std::move(copies[0]);
  return plan;
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
    for (const Graph* graph : graphs) {
      RETURN_IF_ERROR(options.control.Continue("planning"));
      std::unique_ptr<Graph> arranged = graph->Clone();
      const bool is_open = !options.open.empty();
      ASSIGN_OR_RETURN(NetworkPlan plan, is_open ? ArrangeAndPlanOpen(graphs, of_target, arranged)
                                                 : ArrangeAndPlan(*arranged, of_target));
      if (times.contractions.empty()) {
        ASSIGN_OR_RETURN(times.contractions, ListContractions(plan, of_target.target));
      }
      variant.Add(std::move(arranged), std::move(plan));
      if (is_open) break;
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
