#include "lower/open_definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/text.h"
#include "lower/definition.h"
#include "tensor/schedule.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

const std::vector<OpenDim> kOpen = {{.name = "n", .min = 1, .max = 4096, .likely = 40}};

// The open definition of a graph in whose text "$n" is the size, and "$h" half of it, rounded up, and "$m"
// three more.
absl::StatusOr<ComputeDef> OpenAt(const std::string& text) {
  const std::vector<SizePoint> points = *PointsFor(kOpen);
  std::vector<ComputeDef> definitions;
  for (const SizePoint& point : points) {
    const std::string own = absl::StrReplaceAll(text, {{"$n", absl::StrCat(point[0])},
                                                       {"$h", absl::StrCat((point[0] + 1) / 2)},
                                                       {"$m", absl::StrCat(point[0] + 3)}});
    const auto graph = ParseGraph(own);
    EXPECT_TRUE(graph.ok()) << graph.status() << own;
    auto definition = DefineRegion(**graph, "kernel");
    EXPECT_TRUE(definition.ok()) << definition.status();
    definitions.push_back(*std::move(definition));
  }
  return OpenDefinition(definitions, points, kOpen);
}

// The loop nest of the definition as it is.
std::string NestOf(const absl::StatusOr<ComputeDef>& definition) {
  if (!definition.ok()) return definition.status().ToString();
  const auto nest = Schedule(*definition).Lower();
  EXPECT_TRUE(nest.ok()) << nest.status();
  EXPECT_TRUE(VerifyLoopNest(*nest).ok()) << VerifyLoopNest(*nest);
  return Print(*nest);
}

TEST(OpenDefinition, LoopsAndBuffersHaveOpenExtents) {
  const std::string nest =
      NestOf(OpenAt("graph @g(%x: f32[$n,8]) { %0 = relu(%x) : f32[$n,8] return \"y\": %0 }"));
  EXPECT_THAT(nest,
              HasSubstr("kernel @kernel(size %n in 1, 4096, in in0: f32[%n,8] global, out out0: f32[%n,8]"));
  EXPECT_THAT(nest, HasSubstr("in 0, %n {"));
}

TEST(OpenDefinition, AMeanDividesByTheOpenNumber) {
  const std::string nest =
      NestOf(OpenAt("graph @g(%x: f32[$n,8]) { %0 = reduce_mean(%x) {axes = [0], keepdims = 0} : "
                    "f32[8] return \"y\": %0 }"));
  EXPECT_THAT(nest, HasSubstr("cast.f32(%n)"));
}

TEST(OpenDefinition, PartsBeginAtOpenPlaces) {
  const std::string nest = NestOf(OpenAt(
      "graph @g(%x: f32[$n], %y: f32[3]) { %0 = concat(%x, %y) {axis = 0} : f32[$m] return \"z\": %0 }"));
  EXPECT_THAT(nest, HasSubstr("out out0: f32[add(3, %n)]"));
}

TEST(OpenDefinition, SizesThatAreRoundedAreFound) {
  const std::string nest =
      NestOf(OpenAt("graph @g(%x: f32[$n]) { %0 = slice(%x) {starts = [0], sizes = [$h], steps = [2]} : "
                    "f32[$h] return \"y\": %0 }"));
  EXPECT_THAT(nest, HasSubstr("out out0: f32[floor_div(add(%n, 1), 2)]"));
}

}  // namespace
}  // namespace attune
