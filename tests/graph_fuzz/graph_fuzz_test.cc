#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "check.h"
#include "facts.h"
#include "fuzz_case.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "opt/driver.h"
#include "opt/integer_range.h"
#include "patterns.h"
#include "random_case.h"
#include "recipes.h"
#include "reference/interpreter.h"
#include "shrink.h"
#include "spoiled.h"

namespace attune::graph_fuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool Contains(const Graph& graph, Op op) {
  for (const auto& node : graph.nodes()) {
    if (node->op() == op) return true;
  }
  return false;
}

RandomCase Parse(std::string_view text, std::vector<Tensor> inputs) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return {*std::move(graph), std::move(inputs)};
}

TEST(GraphFuzz, EveryOperatorHasARecipe) {
  for (const OpInfo& info : AllOps()) {
    const bool made_by_the_compiler =
        info.op == Op::kConstant || info.op == Op::kLayoutTransform || info.op == Op::kFused;
    EXPECT_EQ(FindRecipe(info.op) == nullptr, made_by_the_compiler) << info.name;
  }
}

TEST(GraphFuzz, RecipesMakeValidGraphs) {
  for (const Recipe& recipe : Recipes()) {
    int made = 0;
    for (uint64_t seed = 0; seed < 30; ++seed) {
      GraphMaker maker(seed);
      if (recipe.add(maker, recipe.op) == nullptr) continue;
      const RandomCase random = maker.Finish();
      ASSERT_TRUE(Verify(*random.graph).ok()) << Verify(*random.graph) << Print(*random.graph);
      made += Contains(*random.graph, recipe.op);
    }
    EXPECT_GE(made, 8) << OpName(recipe.op);
  }
}

TEST(GraphFuzz, PatternsMakeValidGraphs) {
  for (const Pattern& pattern : Patterns()) {
    int64_t nodes = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      GraphMaker maker(seed);
      pattern.add(maker);
      const RandomCase random = maker.Finish();
      ASSERT_TRUE(Verify(*random.graph).ok()) << Verify(*random.graph) << Print(*random.graph);
      nodes += std::ssize(random.graph->nodes());
    }
    EXPECT_GE(nodes, 50) << pattern.name;
  }
}

// If a pass seldom finds something to rewrite, its faults are seldom found.
TEST(GraphFuzz, EveryPassFindsWhatItRewrites) {
  constexpr uint64_t kGraphs = 600;
  std::map<std::string, int> changed;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const RandomCase random = MakeRandomCase(seed);
    const auto reports = RunPlan(*random.graph, DefaultPlan());
    ASSERT_TRUE(reports.ok()) << seed << ": " << reports.status();
    std::set<std::string> passes;
    for (const StepReport& report : *reports) {
      if (report.changed) passes.insert(report.pass);
    }
    for (const std::string& pass : passes) ++changed[pass];
  }
  for (const PassInfo& pass : PassTable()) {
    // These are off unless a setting turns them on.
    const bool is_off =
        pass.name == "narrow" || pass.name == "round_weights" || pass.name == "split_products";
    EXPECT_GE(changed[std::string(pass.name)], is_off ? 0 : 5) << pass.name;
  }
}

TEST(GraphFuzz, ASeedGivesTheSameGraph) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const RandomCase once = MakeRandomCase(seed), again = MakeRandomCase(seed);
    EXPECT_EQ(Print(*once.graph), Print(*again.graph));
    for (size_t i = 0; i < once.inputs.size(); ++i) EXPECT_TRUE(once.inputs[i].Identical(again.inputs[i]));
  }
}

TEST(GraphFuzz, GraphsHaveAtMostFortyNodes) {
  std::vector<int64_t> sizes;
  for (uint64_t seed = 0; seed < 400; ++seed) sizes.push_back(CountNodes(*MakeRandomCase(seed).graph));
  std::ranges::sort(sizes);
  EXPECT_LE(sizes.back(), 40);
  EXPECT_GE(sizes.back(), 35);
  EXPECT_NEAR(static_cast<double>(sizes[sizes.size() / 2]), 10, 2);
}

TEST(GraphFuzz, ACaseReadsBackAsItWas) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const FuzzCase written{MakeRandomCase(seed), DrawSettings(random, "")[2]};
    const std::string text = PrintCase(written, "a comment");
    const absl::StatusOr<FuzzCase> read = ParseCase(text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(PrintCase(*read, "a comment"), text);
  }
}

TEST(GraphFuzz, ErrorsOfACaseSayWhatIsMissing) {
  EXPECT_THAT(std::string(ParseCase("== graph\n").status().message()), HasSubstr("no section 'setting'"));
  EXPECT_THAT(std::string(ParseSetting("cpu=znver3 fast").status().message()), HasSubstr("'fast'"));
}

TEST(GraphFuzz, FactsAreExact) {
  const RandomCase random = Parse(R"(
graph @facts(%x: f32[2]) {
  return "zero0": %x, "same1a": %x, "same1b": %x
})",
                                  {});
  const Tensor zeros(DType::kF32, {2});
  Tensor others(DType::kF32, {2});
  others.SetDouble(1, 1e-30);
  EXPECT_THAT(BrokenFact(*random.graph, {zeros, others, others}), IsEmpty());
  EXPECT_THAT(BrokenFact(*random.graph, {others, others, others}), HasSubstr("zero0[1]"));
  EXPECT_THAT(BrokenFact(*random.graph, {zeros, zeros, others}), HasSubstr("same1"));
}

TEST(GraphFuzz, TheJudgeAllowsRoundingAlone) {
  // The square root of a difference that nearly cancels moves by much more than a unit in the last place.
  const RandomCase random = Parse(R"(
graph @judged(%x: f32[1], %y: f32[1]) {
  %d = sub(%x, %y) : f32[1]
  %r = sqrt(%d) : f32[1]
  %s = mul(%x, %y) : f32[1]
  return "r": %r, "s": %s
})",
                                  {Tensor::FromFloats(std::vector<float>{1000.3f}, {1}),
                                   Tensor::FromFloats(std::vector<float>{1000.1f}, {1})});
  const auto expected = Interpreter().Run(*random.graph, random.inputs);
  ASSERT_TRUE(expected.ok());
  Judge judge(*random.graph, random.inputs, *expected);
  const auto moved = [&](size_t output, double factor) {
    std::vector<Tensor> actual = *expected;
    actual[output] = Tensor(DType::kF32, {1});
    actual[output].SetDouble(0, (*expected)[output].ToDouble(0) * factor);
    return judge.Complaint(actual);
  };
  EXPECT_THAT(moved(0, 1.0005), IsEmpty());
  EXPECT_THAT(moved(0, 1.2), HasSubstr("\"r\""));
  EXPECT_THAT(moved(1, 1.0005), HasSubstr("\"s\""));
}

Tensor BF16(double value) {
  Tensor tensor(DType::kBF16, {1});
  tensor.SetDouble(0, value);
  return tensor;
}

// Rounding errors move the tangent from 370 across the pole, and a gelu and a softmax down to 0.
TEST(GraphFuzz, TheJudgeKnowsWhatIsUndecided) {
  const RandomCase random = Parse(R"(
graph @undecided(%x: f32[1], %y: bf16[1], %z: f32[2]) {
  %t = tan(%x) : f32[1]
  %g = gelu(%y) : bf16[1]
  %s = sign(%g) : bf16[1]
  %p = softmax(%z) {axis = 0} : f32[2]
  %c = ceil(%p) : f32[2]
  return "t": %t, "s": %s, "c": %c
})",
                                  {Tensor::FromFloats(std::vector<float>{1.5681f}, {1}), BF16(-7),
                                   Tensor::FromFloats(std::vector<float>{87.3f, 0}, {2})});
  const auto expected = Interpreter().Run(*random.graph, random.inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  Judge judge(*random.graph, random.inputs, *expected);
  const std::vector<Tensor> actual = {Tensor::FromFloats(std::vector<float>{-3000}, {1}), BF16(0),
                                      Tensor::FromFloats(std::vector<float>{1, 0}, {2})};
  EXPECT_THAT(judge.Complaint(actual, DType::kBF16), IsEmpty());
}

TEST(GraphFuzz, ShrinkingKeepsWhatFails) {
  FuzzCase large{MakeRandomCase(11), {}};
  for (uint64_t seed = 12; !Contains(*large.random.graph, Op::kConv); ++seed)
    large.random = MakeRandomCase(seed);
  large.setting.plan = DefaultPlan();
  const FuzzCase small = Shrink(
      std::move(large), [](const FuzzCase& next) { return Contains(*next.random.graph, Op::kConv); }, 500);
  std::set<Op> left;
  for (const auto& node : small.random.graph->nodes()) left.insert(node->op());
  left.erase(Op::kConstant);
  EXPECT_THAT(left, ::testing::ElementsAre(Op::kConv));
  EXPECT_EQ(small.random.graph->inputs().size(), small.random.inputs.size());
  EXPECT_EQ(small.setting.plan.steps.size(), 1);
}

// A graph whose outputs are all its integers.
RandomCase WithIntegersAsOutputs(const RandomCase& random) {
  std::unique_ptr<Graph> graph = random.graph->Clone();
  int count = 0;
  for (const auto& node : graph->nodes()) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      const DType dtype = node->output(i)->type().dtype;
      if (!IsFloat(dtype) && dtype != DType::kU64)
        graph->AddOutput(absl::StrCat("n", count++), node->output(i));
    }
  }
  return {std::move(graph), random.inputs};
}

// Where the range of a value, or of those at one position of an axis, misses an element; empty if nowhere.
std::string Missed(IntegerRanges& ranges, const Value* value, const Tensor& tensor) {
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const int64_t element = tensor.ToInt(i);
    int64_t inner = 1;
    for (int axis = tensor.rank() - 1; axis >= -1; --axis) {
      const int64_t size = axis < 0 ? 1 : tensor.shape()[static_cast<size_t>(axis)];
      const IntegerRange range = ranges.Of(value, axis, i / inner % size);
      inner *= size;
      if (element < range.low || element > range.high)
        return absl::StrCat("%", value->name(), "[", i, "] is ", element, ", axis ", axis);
    }
  }
  return "";
}

TEST(GraphFuzz, IntegersAreInTheirRanges) {
  int bounded = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const RandomCase random = WithIntegersAsOutputs(MakeRandomCase(seed));
    const auto values = Interpreter().Run(*random.graph, random.inputs);
    ASSERT_TRUE(values.ok()) << values.status();
    IntegerRanges ranges;
    for (size_t i = 0; i < values->size(); ++i) {
      const Value* value = random.graph->outputs()[i].value;
      const DType dtype = value->type().dtype;
      if (IsFloat(dtype) || dtype == DType::kU64) continue;
      bounded += value->constant() == nullptr && IsInt(dtype) && ranges.Of(value).IsWithin(-1000, 1000);
      ASSERT_THAT(Missed(ranges, value, (*values)[i]), IsEmpty()) << "seed " << seed << Print(*random.graph);
    }
  }
  EXPECT_GT(bounded, 100);
}

// If indices out of range seldom arise, it is seldom seen that nothing says so.
TEST(GraphFuzz, IndicesCanBeSpoiled) {
  int inputs = 0, constants = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const RandomCase random = MakeRandomCase(seed);
    inputs += SpoilInput(random, seed).has_value();
    constants += SpoilConstant(random, seed).has_value();
  }
  EXPECT_GT(inputs, 10);
  EXPECT_GT(constants, 10);
}

TEST(GraphFuzz, CompiledGraphsAreRight) {
  for (uint64_t seed = 100; seed < 105; ++seed) {
    Setting setting;
    setting.cpu = "wide";
    setting.plan = DefaultPlan();
    const Verdict verdict = CheckAll(MakeRandomCase(seed), {setting});
    EXPECT_TRUE(verdict.ok()) << "seed " << seed << ": " << verdict.message;
  }
}

}  // namespace
}  // namespace attune::graph_fuzz
