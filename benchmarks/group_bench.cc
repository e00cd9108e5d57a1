// Times one fused group:
//
//   group_bench GRAPH [STRATEGY [KNOB=VALUE ...]]
//
// reads a graph in text form and schedules it as a kernel, by default as the compiler does, and prints its
// best time and GFLOP/s (of a direct convolution's multiply-adds). Where KNOBs are not given, the analytic
// default counts. Set LOOPS or ASM to print the loop nest or the assembly, CPU for another target, COLD to
// find nothing in the caches at the start of a run, as after the other kernels of a large network.
//
//   echo 'graph @g(%x: f32[1,64,56,56]{c1/16}, %w: f32[64,64,3,3]) {
//     %y = conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,64,56,56]{c1/16}
//     return "y": %y
//   }' > conv.graph && group_bench conv.graph
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/file.h"
#include "base/status.h"
#include "device/host.h"
#include "graph/text.h"
#include "kernel_timer.h"
#include "lower/flatten.h"
#include "lower/strategy.h"
#include "target/target.h"

namespace attune {
namespace {

// The strategy and config that the arguments name.
absl::StatusOr<ScheduledGroup> ScheduleAsTold(const Graph& graph, const Target& target,
                                              const std::vector<std::string>& args) {
  if (args.empty()) return ScheduleGroup(graph, "group", target);
  const Strategy* strategy = FindStrategy(args[0]);
  if (strategy == nullptr) return InvalidInput("no strategy ", args[0]);
  ASSIGN_OR_RETURN(Workload workload, AnalyzeGroup(graph, "group"));
  if (const std::string reason = strategy->why_not(workload, target); !reason.empty())
    return InvalidInput(args[0], " does not apply: ", reason);
  Config config = strategy->analytic_default(workload, target);
  for (size_t i = 1; i < args.size(); ++i) {
    const size_t equals = args[i].find('=');
    if (equals == std::string::npos) return InvalidInput("no KNOB=VALUE: ", args[i]);
    config[args[i].substr(0, equals)] = std::stoll(args[i].substr(equals + 1));
  }
  return ScheduleBy(*strategy, std::move(workload), std::move(config), target);
}

absl::Status Run(const std::string& path, const std::vector<std::string>& args) {
  const char* cpu = std::getenv("CPU");
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 1 << 30));
  ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, ParseGraph(text));
  if (std::unique_ptr<Graph> flat = Flatten(*graph)) graph = std::move(flat);
  ASSIGN_OR_RETURN(const Target target, cpu == nullptr ? HostTarget() : TargetByName(cpu));
  ASSIGN_OR_RETURN(const ScheduledGroup group, ScheduleAsTold(*graph, target, args));
  if (std::getenv("LOOPS") != nullptr) {
    ASSIGN_OR_RETURN(const LoopNest nest, LowerPrepared(group));
    std::printf("%s\n", Print(nest).c_str());
  }
  const double start = Seconds();
  ASSIGN_OR_RETURN(const TimedKernel kernel,
                   TimedKernel::Compile(group, target, std::getenv("ASM") != nullptr));
  std::printf("strategy %s %s, compiled in %.1f ms", std::string(group.strategy->name).c_str(),
              ToString(group.config).c_str(), 1e3 * (Seconds() - start));
  if (group.strategy->cost != nullptr) {
    std::printf(", predicted %.4f ms",
                group.strategy->cost(group.workload, group.config, target) / (target.clock_ghz * 1e6));
  }
  std::printf("\n");
  if (!kernel.assembly().empty()) std::printf("%s\n", kernel.assembly().c_str());
  std::vector<int64_t> others(std::getenv("COLD") == nullptr ? 0 : target.l3_bytes / 4);
  const double best = kernel.BestSeconds(0.5, [&] {
    for (size_t i = 0; i < others.size(); i += 8) ++others[i];
  });
  double flops = 0;
  for (const auto& node : graph->nodes()) {
    const Shape out = node->output()->type().shape();
    if (node->op() == Op::kConv) {
      const TensorType& w = node->input(1)->type();
      flops += 2.0 *
               static_cast<double>(node->output()->type().num_elements() * (w.num_elements() / w.shape()[0]));
    } else if (node->op() == Op::kMatMul) {
      flops += 2.0 * static_cast<double>(node->output()->type().num_elements() *
                                         node->input(0)->type().shape().back());
    } else {
      flops += static_cast<double>(node->output()->type().num_elements());
    }
  }
  std::printf("%.4f ms, %.1f GFLOP/s\n", best * 1e3, flops / best * 1e-9);
  return absl::OkStatus();
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: group_bench GRAPH [STRATEGY [KNOB=VALUE ...]]\n");
    return 2;
  }
  const absl::Status status = attune::Run(argv[1], {argv + 2, argv + argc});
  if (!status.ok()) std::fprintf(stderr, "group_bench: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
