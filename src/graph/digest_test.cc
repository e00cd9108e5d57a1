#include "graph/digest.h"

#include <gtest/gtest.h>

#include <string_view>

#include "graph/text.h"

namespace attune {
namespace {

std::string DigestOf(std::string_view text) {
  const auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? GraphDigest(**graph) : "";
}

constexpr std::string_view kNetwork = R"(graph @a(%x: f32[2], %y: f32[2]) {
  %w = constant() {value = f32[2]<1, 2>} : f32[2]
  %p = mul(%x, %w) : f32[2]
  %q = sub(%y, %w) : f32[2]
  %r = concat(%p, %q) {axis = 0} : f32[4]
  return "out": %r
})";

TEST(GraphDigest, DoesNotDependOnNamesAndOrder) {
  EXPECT_EQ(DigestOf(kNetwork), DigestOf(R"(graph @b(%in: f32[2], %other: f32[2]) {
    %weights = constant() {value = f32[2]<1, 2>} : f32[2]
    %dead = relu(%in) : f32[2]
    %1 = sub(%other, %weights) : f32[2]
    %same = constant() {value = f32[2]<1, 2>} : f32[2]
    %0 = mul(%in, %same) @"layer" : f32[2]
    %2 = concat(%0, %1) {axis = 0} : f32[4]
    return "result": %2
  })"));
}

TEST(GraphDigest, DependsOnAllElse) {
  const std::string network(kNetwork);
  const std::string digest = DigestOf(network);
  const std::pair<std::string, std::string> changes[] = {
      {"<1, 2>", "<1, 3>"},  // a weight
      {"mul(", "add("},      // an operator
      {"mul(%x, %w)", "mul(%y, %w)"},
      {"sub(%y, %w)", "sub(%w, %y)"},
      {"concat(%p, %q)", "concat(%q, %p)"},
      {"(%x: f32[2], %y: f32[2])", "(%y: f32[2], %x: f32[2])"},
      {"return \"out\": %r", "return \"out\": %r, \"more\": %p"},
  };
  for (const auto& [from, to] : changes) {
    std::string changed = network;
    changed.replace(changed.find(from), from.size(), to);
    EXPECT_NE(DigestOf(changed), digest) << changed;
  }
}

TEST(GraphDigest, DependsOnAttributes) {
  constexpr std::string_view kAxis0 = R"(graph @a(%x: f32[2,2]) {
    %r = concat(%x, %x) {axis = 0} : f32[4,2]
    return "out": %r
  })";
  constexpr std::string_view kAxis1 = R"(graph @a(%x: f32[2,2]) {
    %r = concat(%x, %x) {axis = 1} : f32[2,4]
    return "out": %r
  })";
  EXPECT_NE(DigestOf(kAxis0), DigestOf(kAxis1));
}

}  // namespace
}  // namespace attune
