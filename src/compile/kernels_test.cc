#include "compile/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "base/status.h"
#include "device/host.h"
#include "graph/text.h"
#include "lower/strategy.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// A group for each strategy on vectors, and for each on a matrix unit.
constexpr std::string_view kGroups[] = {
    R"(graph @grouped(%x: f32[1,15,14,14], %w: f32[15,5,3,3]) {
         %y = conv(%x, %w) {pads = [1, 1, 1, 1], group = 3} : f32[1,15,14,14]
         return "": %y
       })",
    R"(graph @direct(%x: f32[1,32,14,14]{c1/16}, %w: f32[64,32,1,1], %b: f32[64]) {
         %c = conv(%x, %w, %b) : f32[1,64,14,14]{c1/16}
         %y = relu(%c) : f32[1,64,14,14]{c1/16}
         return "": %y
       })",
    R"(graph @winograd(%x: f32[1,32,14,14]{c1/16}, %w: f32[64,32,3,3], %b: f32[64]) {
         %c = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : f32[1,64,14,14]{c1/16}
         %y = relu(%c) : f32[1,64,14,14]{c1/16}
         return "": %y
       })",
    R"(graph @shallow(%x: bf16[1,3,28,28], %w: bf16[32,3,3,3]) {
         %c = conv(%x, %w) {pads = [1, 1, 1, 1], strides = [2, 2]} : bf16[1,32,14,14]{c1/16}
         return "": %c
       })",
    R"(graph @depthwise(%x: f32[1,32,14,14]{c1/16}, %w: f32[32,1,3,3]) {
         %c = conv(%x, %w) {pads = [1, 1, 1, 1], group = 32} : f32[1,32,14,14]{c1/16}
         return "": %c
       })",
    R"(graph @chain(%x: f32[1,16,28,28]{c1/16}, %w: f32[32,16,1,1], %v: f32[32,1,3,3]) {
         %y = conv(%x, %w) : f32[1,32,28,28]{c1/16}
         %z = relu(%y) : f32[1,32,28,28]{c1/16}
         %c = conv(%z, %v) {group = 32, pads = [1, 1, 1, 1]} : f32[1,32,28,28]{c1/16}
         return "": %c
       })",
    R"(graph @gemm(%a: f32[24,64], %b: f32[64,96], %c: f32[96]) {
         %p = matmul(%a, %b) : f32[24,96]
         %y = add(%p, %c) : f32[24,96]
         return "": %y
       })",
    R"(graph @attention(%q: f32[1,2,16,32], %k: f32[1,2,16,32], %v: f32[1,2,16,32]) {
         %y = attention(%q, %k, %v) {scale = 0.25} : f32[1,2,16,32]
         return "": %y
       })",
    R"(graph @loops(%x: f32[6,1000]) {
         %y = softmax(%x) {axis = 1} : f32[6,1000]
         return "": %y
       })",
};

constexpr std::string_view kMatrixGroups[] = {
    R"(graph @conv(%x: bf16[1,32,14,14]{c1/16}, %w: bf16[64,32,3,3]) {
         %c = conv(%x, %w) {pads = [1, 1, 1, 1]} : bf16[1,64,14,14]{c1/16}
         %y = relu(%c) : bf16[1,64,14,14]{c1/16}
         return "": %y
       })",
    R"(graph @gemm(%a: u8[24,64], %b: i8[64,96]) {
         %p = matmul_integer(%a, %b) : i32[24,96]
         return "": %p
       })",
    R"(graph @attention(%q: bf16[1,2,24,32], %k: bf16[1,2,20,32], %v: bf16[1,2,20,32]) {
         %y = attention(%q, %k, %v) {scale = 0.25} : bf16[1,2,24,32]
         return "": %y
       })",
};

absl::StatusOr<std::string> ObjectOf(const Schedule& schedule, const Target& target) {
  std::set<std::string> prepared;
  for (const auto& [stage, input] : schedule.Prepackings()) prepared.insert(stage);
  ASSIGN_OR_RETURN(const LoopNest nest, schedule.Lower(prepared));
  ASSIGN_OR_RETURN(std::vector<CompiledKernel> kernels, CompileKernels({{&nest, {}}}, target, 1));
  return std::move(kernels[0].object);
}

// Adds the names of the groups' strategies to `strategies`.
void ExpectSameObjects(std::span<const std::string_view> groups, const Target& target,
                       std::vector<std::string_view>* strategies) {
  for (std::string_view text : groups) {
    SCOPED_TRACE(text);
    const auto region = ParseGraph(text);
    ASSERT_TRUE(region.ok()) << region.status();
    const auto group = ScheduleGroup(**region, "kernel", target);
    ASSERT_TRUE(group.ok()) << group.status();
    strategies->push_back(group->strategy->name);
    const auto trace = ParseTrace(ToJson(group->schedule.trace()));
    ASSERT_TRUE(trace.ok()) << trace.status();
    const auto replayed = Schedule::Replay(group->workload.definition, *trace);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    const auto object = ObjectOf(group->schedule, target), again = ObjectOf(*replayed, target);
    ASSERT_TRUE(object.ok()) << object.status();
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(*object == *again);
  }
}

TEST(CompileKernels, TheReplayOfAPrintedScheduleIsTheSameObject) {
  std::vector<std::string_view> strategies;
  ExpectSameObjects(kGroups, *TargetByName("znver4"), &strategies);
  ExpectSameObjects(kMatrixGroups, *TargetByName("sapphirerapids"), &strategies);
  std::vector<std::string_view> all;
  for (const Strategy& strategy : AllStrategies()) all.push_back(strategy.name);
  EXPECT_THAT(strategies, ::testing::UnorderedElementsAreArray(all));
}

TEST(CompileKernels, RefusesALoopNestThatDoesNotVerify) {
  LoopNest nest;
  nest.name = "broken";
  const Buffer x = MakeBuffer("x", DType::kF32, {4}), y = MakeBuffer("y", DType::kF32, {4});
  nest.params = {{x, BufferRole::kInput}, {y, BufferRole::kOutput}};
  nest.roots = {MakeStore(y, {Expr(MakeVar("i"))}, Load(x, {Expr(0)}))};
  EXPECT_THAT(std::string(CompileKernels({{&nest, {}}}, *HostTarget(), 1).status().message()),
              HasSubstr("variable i is used where it is not bound"));
}

}  // namespace
}  // namespace attune
