#include "tune/cost_model/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "base/random.h"
#include "codegen/gemm_nest.h"
#include "graph/text.h"
#include "lower/strategy.h"
#include "tune/cost_model/nest_analysis.h"

namespace attune {
namespace {

Target ZenFour() { return *TargetByName("znver4"); }

std::map<std::string, double> ByName(const LoopNest& nest, const Target& target, int threads = 1) {
  const FeatureVector features = ExtractFeatures(nest, target, threads);
  std::map<std::string, double> named;
  for (size_t i = 0; i < features.size(); ++i) named[FeatureNames()[i]] = features[i];
  return named;
}

TEST(Features, NamesAreDistinct) {
  const std::vector<std::string>& names = FeatureNames();
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(ExtractFeatures(LoopNest{}, Target{}, 1).size(), names.size());
}

// A tile of 6 rows by 4 vectors of 16 lanes, over all of k: a row of b's panel is read as vectors, elements
// of a are broadcast.
TEST(Features, OfAMatrixProduct) {
  const int64_t m = 96, n = 256, k = 512;
  const auto f = ByName(GemmNest(m, n, k, 6, 4, 16), ZenFour());
  const auto log = [](double x) { return std::log2(1 + x); };
  EXPECT_FLOAT_EQ(f.at("tile.multiply_adds"), log(24));
  EXPECT_FLOAT_EQ(f.at("tile.contiguous_loads"), log(4));
  EXPECT_FLOAT_EQ(f.at("tile.uniform_loads"), log(6));
  EXPECT_FLOAT_EQ(f.at("tile.stores"), 0);
  EXPECT_FLOAT_EQ(f.at("tile.live_registers"), log(24));
  EXPECT_FLOAT_EQ(f.at("tile.vector_width"), 1);
  EXPECT_FLOAT_EQ(f.at("nest.flops"), log(2.0 * m * n * k));
  // One iteration of k: 256 bytes of b and six elements of a.
  EXPECT_FLOAT_EQ(f.at("loop0.contiguous"), log(256));
  EXPECT_FLOAT_EQ(f.at("loop0.uniform"), log(24));
  // All iterations of k: a panel of b, and six rows of a.
  EXPECT_FLOAT_EQ(f.at("loop1.extent"), log(k));
  EXPECT_FLOAT_EQ(f.at("loop1.contiguous"), log(256 * k));
  EXPECT_FLOAT_EQ(f.at("loop1.uniform"), log(6 * k * 4));
  EXPECT_FLOAT_EQ(f.at("loop1.flops"), log(2 * 6 * 64 * k));
  // All rows, which read the panel again and again.
  EXPECT_FLOAT_EQ(f.at("loop2.extent"), log(16));
  EXPECT_FLOAT_EQ(f.at("loop2.contiguous"), log(256 * k));
  EXPECT_FLOAT_EQ(f.at("loop2.written"), log(m * 256));
  EXPECT_GT(f.at("loop2.reused"), 0.8);
  EXPECT_LT(f.at("loop1.reused"), 0.1);
  // All panels, in parallel.
  EXPECT_FLOAT_EQ(f.at("loop3.kind"), 3);
  EXPECT_FLOAT_EQ(f.at("loop3.contiguous"), log(n * k * 4));
  EXPECT_FLOAT_EQ(f.at("loop5.contiguous"), log(n * k * 4));
  EXPECT_FLOAT_EQ(f.at("nest.imbalance"), 1);
}

TEST(Features, DependOnTargetAndThreads) {
  const LoopNest nest = GemmNest(96, 256, 512, 6, 4, 16);
  Target small = ZenFour();
  small.l2_bytes /= 4;
  EXPECT_NEAR(ByName(nest, small).at("loop3.l2") - ByName(nest, ZenFour()).at("loop3.l2"), 2, 1e-3);
  EXPECT_FLOAT_EQ(ByName(nest, ZenFour(), 3).at("nest.imbalance"), 1.5);  // 4 panels
}

// Loops that share a variable, division of a fused index, a sliding window, a guard, a gather.
TEST(Features, FootprintsAreBoxes) {
  const auto nest = ParseLoopNest(R"(kernel @k(in a: f32[8,16,100] global, in i: i64[16] global,
                                              out b: f32[8,16,64] global, out c: f32[128] global) {
    root {
      parallel %p in 0, 128 {
        for %w in 0, 4 {
          vector %v in 0, 16 {
            b[floor_div(%p, 16), floor_mod(%p, 16), add(mul(%w, 16), %v)] =
              mul(a[floor_div(%p, 16), floor_mod(%p, 16), add(mul(%w, 16), add(%v, 2))], f32 2)
          }
        }
      }
    }
    root {
      for %w in 0, 128 {
        if lt(i[floor_div(%w, 8)], 5) {
          c[%w] = a[0, i[floor_div(%w, 8)], 3]
        }
      }
    }
  })");
  ASSERT_TRUE(nest.ok()) << nest.status();
  ASSERT_TRUE(VerifyLoopNest(*nest).ok()) << VerifyLoopNest(*nest);
  const NestAnalysis analysis = AnalyzeNest(*nest, ZenFour());
  const auto bytes = [](const Footprint& footprint, MemoryUse use) {
    return footprint.bytes[static_cast<size_t>(use)];
  };
  ASSERT_EQ(analysis.loops.size(), 4);
  EXPECT_EQ(bytes(analysis.WholeFootprint(2), MemoryUse::kContiguousRead), 64);
  EXPECT_EQ(bytes(analysis.WholeFootprint(1), MemoryUse::kContiguousRead), 256);
  EXPECT_EQ(bytes(analysis.IterationFootprint(0), MemoryUse::kWritten), 256);
  EXPECT_EQ(bytes(analysis.WholeFootprint(0), MemoryUse::kWritten), 4 * 8 * 16 * 64);
  // Sixteen indices, and one element of `a` for each possible value of an index.
  EXPECT_EQ(bytes(analysis.WholeFootprint(3), MemoryUse::kUniformRead), 16 * 8 + 16 * 4);
  EXPECT_EQ(bytes(analysis.IterationFootprint(3), MemoryUse::kUniformRead), 8 + 4);
  EXPECT_EQ(analysis.branches, 128);
  EXPECT_TRUE(analysis.statements[1].is_guarded);
}

// Loop nests of every strategy, with `count` random configs each.
std::vector<LoopNest> NestsOf(const Graph& region, const Target& target, int count,
                              std::set<std::string>* names) {
  std::vector<LoopNest> nests;
  Random random(1);
  for (const Strategy& strategy : AllStrategies()) {
    auto workload = AnalyzeGroup(region, "group");
    if (!workload.ok() || !strategy.why_not(*workload, target).empty()) continue;
    const std::vector<Knob> knobs = strategy.space(*workload, target);
    Config config = strategy.analytic_default(*workload, target);
    for (int i = 0; i < count; ++i) {
      auto group = ScheduleBy(strategy, *AnalyzeGroup(region, "group"), config, target);
      if (group.ok()) {
        std::set<std::string> prepared;
        for (const auto& [stage, input] : group->schedule.Prepackings()) prepared.insert(stage);
        auto nest = group->schedule.Lower(prepared);
        if (nest.ok() && VerifyLoopNest(*nest).ok()) {
          nests.push_back(*std::move(nest));
          names->insert(std::string(strategy.name));
        }
      }
      for (const Knob& knob : knobs) config[knob.name] = knob.values[random.Next() % knob.values.size()];
    }
  }
  return nests;
}

TEST(Features, OfEveryStrategy) {
  const char* groups[] = {
      R"(graph @g(%x: f32[1,64,28,28]{c1/16}, %w: f32[64,64,3,3], %b: f32[64]) {
        %y = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : f32[1,64,28,28]{c1/16}
        %z = sigmoid(%y) : f32[1,64,28,28]{c1/16}
        return "": %z
      })",
      R"(graph @g(%x: f32[1,32,14,14]{c1/16}, %w: f32[32,1,3,3]) {
        %y = conv(%x, %w) {group = 32, pads = [1, 1, 1, 1]} : f32[1,32,14,14]{c1/16}
        return "": %y
      })",
      R"(graph @g(%x: f32[1,16,12,20]{c1/16}, %w: f32[48,16,1,1], %v: f32[48,1,3,3]) {
        %y = conv(%x, %w) : f32[1,48,12,20]{c1/16}
        %z = relu(%y) : f32[1,48,12,20]{c1/16}
        %d = conv(%z, %v) {group = 48, pads = [1, 1, 1, 1]} : f32[1,48,12,20]{c1/16}
        return "": %d
      })",
      R"(graph @g(%x: bf16[1,3,32,32], %w: bf16[32,3,3,3]) {
        %y = conv(%x, %w) {strides = [2, 2], pads = [1, 1, 1, 1]} : bf16[1,32,16,16]{c1/16}
        return "": %y
      })",
      R"(graph @g(%x: bf16[1,32,28,28]{c1/16}, %w: bf16[64,32,3,3]) {
        %y = conv(%x, %w) {pads = [1, 1, 1, 1]} : bf16[1,64,28,28]{c1/16}
        return "": %y
      })",
      R"(graph @g(%a: u8[96,256], %b: i8[256,130]) {
        %y = matmul_integer(%a, %b) : i32[96,130]
        return "": %y
      })",
      R"(graph @g(%a: f32[96,200], %b: f32[200,130]) {
        %y = matmul(%a, %b) : f32[96,130]
        return "": %y
      })",
      R"(graph @g(%x: f32[1,2,64,32], %y: f32[1,2,64,32]) {
        %a = attention(%x, %y, %y) {scale = 0.25} : f32[1,2,64,32]
        return "": %a
      })",
      R"(graph @g(%x: bf16[1,2,64,32], %y: bf16[1,2,64,32]) {
        %a = attention(%x, %y, %y) {scale = 0.25} : bf16[1,2,64,32]
        return "": %a
      })",
      R"(graph @g(%x: f32[8,130]) {
        %y = softmax(%x) {axis = 1} : f32[8,130]
        return "": %y
      })",
      R"(graph @g(%x: f32[3,50,7], %y: f32[50,1]) {
        %z = add(%x, %y) : f32[3,50,7]
        return "": %z
      })"};
  std::set<std::string> strategies;
  for (const char* text : groups) {
    const auto graph = ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status();
    for (const Target& target : {ZenFour(), WithModelledTiles(ZenFour()), *TargetByName("x86-64-v3")}) {
      std::set<FeatureVector> distinct;
      const std::vector<LoopNest> nests = NestsOf(**graph, target, 12, &strategies);
      EXPECT_FALSE(nests.empty()) << text;
      std::set<std::string> printed;
      for (const LoopNest& nest : nests) {
        const FeatureVector features = ExtractFeatures(nest, target, 2);
        ASSERT_EQ(features.size(), FeatureNames().size());
        EXPECT_TRUE(std::ranges::all_of(features, [](float x) { return std::abs(x) < 1e5; })) << text;
        EXPECT_EQ(features, ExtractFeatures(nest, target, 2));
        distinct.insert(features);
        printed.insert(Print(nest));
      }
      EXPECT_EQ(distinct.size(), printed.size()) << text;
    }
  }
  for (const Strategy& strategy : AllStrategies())
    EXPECT_TRUE(strategies.contains(std::string(strategy.name))) << strategy.name;
}

}  // namespace
}  // namespace attune
