// No kernel does less than what is said to be the least: kernels of random graphs run element by element, and
// what they read and multiply is counted.
#include "graph/demand.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/network.h"
#include "plan/group_kernel.h"
#include "random_case.h"
#include "tensor/testing/interpreter.h"
#include "tune/task/task.h"

namespace attune::graph_fuzz {
namespace {

// Data that is good for everything: small numbers, most of them indices of something.
Arrays DataFor(const LoopNest& nest, Random& random) {
  Arrays arrays;
  for (const LoopNest::Param& param : nest.params) {
    if (param.role != BufferRole::kInput) continue;
    std::vector<double>& data = arrays[param.buffer->name];
    for (int64_t i = 0; i < param.buffer->num_elements(); ++i)
      data.push_back(static_cast<double>(random.Integer(0, param.buffer->dtype == DType::kBool ? 1 : 3)));
  }
  return arrays;
}

struct Checked {
  int kernels = 0, reads = 0;
};

void Check(const TuningTask& task, const Target& target, Random& random, Checked& checked) {
  constexpr double kMostWork = 200'000;
  if (task.flops > kMostWork || task.bytes > kMostWork) return;
  const absl::StatusOr<ScheduledGroup> group = ScheduleGroup(*task.region, "task", target);
  ASSERT_TRUE(group.ok()) << group.status();
  const absl::StatusOr<GroupKernel> kernel = LowerGroup(*group, task.constant_inputs);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  if (kernel->nest.dims_buffer) return;  // sizes that depend on data are not demanded
  Arrays arrays = DataFor(kernel->nest, random);
  RunCounts counts;
  const absl::Status run = RunLoopNest(kernel->nest, arrays, &counts);
  ASSERT_TRUE(run.ok()) << run << task.text;
  const Demand demand = DemandOf(*task.region);
  for (size_t i = 0; i < demand.elements_read.size(); ++i) {
    // As it is, or prepacked.
    size_t reads = counts.reads[InputName(i)].size();
    for (const GroupKernel::Prepacking& prepacking : kernel->prepackings)
      if (prepacking.input == static_cast<int>(i)) reads += counts.reads[prepacking.param].size();
    EXPECT_GE(static_cast<double>(reads), demand.elements_read[i]) << InputName(i) << task.text;
    checked.reads += demand.elements_read[i] > 0;
  }
  // Products of i64 are not told from index arithmetic.
  const bool is_wide = std::ranges::any_of(task.region->nodes(), [](const auto& node) {
    return node->num_outputs() > 0 && node->output()->type().dtype == DType::kI64;
  });
  if (!is_wide) {
    EXPECT_GE(static_cast<double>(counts.multiplications),
              group->strategy->least_work * demand.contraction_flops / 2)
        << group->strategy->name << task.text;
  }
  ++checked.kernels;
}

TEST(DemandOfRandomGraphs, NoKernelDoesLess) {
  const Target target = *TargetByName("znver3");
  Checked checked;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const RandomCase random_case = MakeRandomCase(seed);
    const Network network = Network::FromGraph(*random_case.graph, "graph").Optimize();
    const auto tasks = network.Tasks(target);
    if (!tasks.ok()) continue;
    Random random(seed);
    for (const TuningTask& task : *tasks) Check(task, target, random, checked);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(checked.kernels, 200);
  EXPECT_GT(checked.reads, 300);
}

}  // namespace
}  // namespace attune::graph_fuzz
