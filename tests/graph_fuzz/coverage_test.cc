#include "coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"

namespace attune::graph_fuzz {
namespace {

using ::testing::HasSubstr;

Coverage CoverageOf(const Verdict& verdict, const FuzzRun& run) {
  const auto graph = ParseGraph(R"(
graph @covered(%x: f32[2]) {
  %a = neg(%x) : f32[2]
  %b = sqrt(%a) : f32[2]
  return "b": %b
})");
  EXPECT_TRUE(graph.ok()) << graph.status();
  Setting setting;
  setting.cpu = "znver3";
  Coverage coverage;
  coverage.Add(**graph, verdict, {setting, setting});
  coverage.Add(run);
  return coverage;
}

TEST(Coverage, RunsAddUp) {
  Verdict right, refused;
  right.strategies = {"loops"};
  right.instructions = {"AVX2", "AVX-512"};
  refused.failure = Failure::kRefused;
  refused.message = "no such thing\nmore of it";
  Coverage coverage = CoverageOf(right, {.seed = 1, .graphs = 300, .seconds = 7});
  coverage.Add(CoverageOf(refused, {.seed = 301, .graphs = 2, .refused = 1}));
  const std::string text = coverage.ToString();
  EXPECT_THAT(text, HasSubstr("2 graphs, 4 nodes (median 2, at most 2), 2 of "));
  EXPECT_THAT(text, HasSubstr(" 1 pairs of them"));
  EXPECT_THAT(text, HasSubstr(" loops 1"));
  EXPECT_THAT(text, HasSubstr("instructions: AVX-512 1 AVX2 1"));
  EXPECT_THAT(text, HasSubstr("processor: znver3 4"));
  EXPECT_THAT(text, HasSubstr("refused 1: no such thing\n"));
  EXPECT_THAT(text, HasSubstr("seeds 301 to 302: 1 refused, 0 failed, 0 s\n"));
  EXPECT_EQ(coverage.NextSeed(), 303);
}

TEST(Coverage, AFileReadsBackAsItWas) {
  Verdict verdict;
  verdict.strategies = {"gemm"};
  const Coverage written = CoverageOf(verdict, {.seed = 5, .graphs = 8, .failed = 1});
  const absl::StatusOr<Coverage> read = Coverage::FromJson(written.ToJson());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->ToJson(), written.ToJson());
  EXPECT_EQ(read->ToString(), written.ToString());
  EXPECT_FALSE(Coverage::FromJson("[1]").ok());
}

}  // namespace
}  // namespace attune::graph_fuzz
