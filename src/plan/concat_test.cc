#include "plan/concat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/text.h"

namespace attune {
namespace {

constexpr int64_t kPlane = 4 * 4 * int64_t{sizeof(float)};

// Groups that each negate, and groups that each concatenate, named a, b, … and x, y, ….
class ConcatGraph {
 public:
  ConcatGraph() { text_ = "graph @g(%in: f32[1,16,4,4]{c1/16}) {\n"; }

  ConcatGraph& Negate(const std::string& name) {
    text_ += "%" + name + " = fused(%in) { graph(%v: f32[1,16,4,4]{c1/16}) { %n = neg(%v) : " + Type(16) +
             " return \"\": %n } } : " + Type(16) + "\n";
    channels_[name] = 16;
    return *this;
  }

  // As fusion makes it: a value that is concatenated twice is one input of the group.
  ConcatGraph& Concat(const std::string& name, const std::vector<std::string>& inputs) {
    std::string outer, inner, names;
    int64_t channels = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string& input = inputs[i];
      const std::string parameter = "%v" + input;
      if (std::find(inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(i), input) ==
          inputs.begin() + static_cast<ptrdiff_t>(i)) {
        outer += (outer.empty() ? "%" : ", %") + input;
        inner += (inner.empty() ? "" : ", ") + parameter + ": " + Type(channels_[input]);
      }
      names += (names.empty() ? "" : ", ") + parameter;
      channels += channels_[input];
    }
    text_ += "%" + name + " = fused(" + outer + ") { graph(" + inner + ") { %c = concat(" + names +
             ") {axis = 1} : " + Type(channels) + " return \"\": %c } } : " + Type(channels) + "\n";
    channels_[name] = channels;
    return *this;
  }

  // The offset of each value in another one, by name: "whole+blocks". Values in memory of their own are
  // left out.
  std::map<std::string, std::string> Places(const std::string& output) {
    graph_ = ParseGraph(text_ + "return \"\": %" + output + "\n}\n").value();
    std::map<const Value*, std::string> names;
    size_t n = 0;
    for (const auto& node : graph_->nodes()) names[node->output()] = std::string(1, "abcdefgh"[n++]);
    std::map<std::string, std::string> places;
    parts_ = PlaceConcatParts(*graph_);
    for (const auto& [value, place] : parts_) {
      places[names.at(value)] = names.at(place.whole) + "+" + std::to_string(place.offset / (16 * kPlane));
    }
    return places;
  }

  bool IsInPlace(size_t node) const {
    for (const auto& each : graph_->nodes()) {
      if (node-- == 0) return IsConcatInPlace(*each, parts_);
    }
    return false;
  }

 private:
  static std::string Type(int64_t channels) { return "f32[1," + std::to_string(channels) + ",4,4]{c1/16}"; }

  std::string text_;
  std::map<std::string, int64_t> channels_;
  std::unique_ptr<Graph> graph_;
  Parts parts_;
};

using Places = std::map<std::string, std::string>;

TEST(Concat, PartsLieInTheWhole) {
  ConcatGraph graph;
  graph.Negate("a").Negate("b").Concat("c", {"a", "b"});
  EXPECT_EQ(graph.Places("c"), (Places{{"a", "c+0"}, {"b", "c+1"}}));
  EXPECT_TRUE(graph.IsInPlace(2));
  EXPECT_FALSE(graph.IsInPlace(0));
  // An output of the graph lies in memory of its own.
  EXPECT_EQ(graph.Places("a"), (Places{}));
  EXPECT_FALSE(graph.IsInPlace(2));
}

TEST(Concat, LaterOnesHoldEarlierOnes) {
  ConcatGraph graph;
  graph.Negate("a").Negate("b").Concat("c", {"a", "b"}).Negate("d").Concat("e", {"a", "b", "d"}).Negate("f");
  EXPECT_EQ(graph.Places("f"), (Places{{"a", "e+0"}, {"b", "e+1"}, {"c", "e+0"}, {"d", "e+2"}}));
  EXPECT_TRUE(graph.IsInPlace(2));
  EXPECT_TRUE(graph.IsInPlace(4));
}

TEST(Concat, TheyNest) {
  ConcatGraph graph;
  graph.Negate("a").Negate("b").Negate("c").Concat("d", {"b", "c"}).Concat("e", {"a", "d"}).Negate("f");
  EXPECT_EQ(graph.Places("f"), (Places{{"a", "e+0"}, {"b", "e+1"}, {"c", "e+2"}, {"d", "e+1"}}));
  EXPECT_TRUE(graph.IsInPlace(3));
}

TEST(Concat, AValueHasOnePlace) {
  ConcatGraph graph;
  graph.Negate("a")
      .Negate("b")
      .Concat("c", {"a", "b"})
      .Concat("d", {"b", "a"})
      .Concat("e", {"a", "a"})
      .Negate("f");
  EXPECT_EQ(graph.Places("f"), (Places{{"a", "d+1"}, {"b", "d+0"}}));
  EXPECT_FALSE(graph.IsInPlace(2));
  EXPECT_TRUE(graph.IsInPlace(3));
  EXPECT_FALSE(graph.IsInPlace(4));
}

// A value that is concatenated twice cannot lie at two offsets.
TEST(Concat, OneValueTwiceIsCopied) {
  ConcatGraph graph;
  graph.Negate("a").Concat("b", {"a", "a"}).Negate("c");
  EXPECT_EQ(graph.Places("c"), (Places{}));
  EXPECT_FALSE(graph.IsInPlace(1));
  ConcatGraph longer;
  longer.Negate("a").Negate("b").Concat("c", {"a", "a", "b"}).Concat("d", {"a", "b"}).Negate("e");
  EXPECT_EQ(longer.Places("e"), (Places{{"a", "d+0"}, {"b", "d+1"}}));
  EXPECT_FALSE(longer.IsInPlace(2));
  EXPECT_TRUE(longer.IsInPlace(3));
}

// The group concatenates a constant of its own, which no kernel has written into the whole.
TEST(Concat, AConstantOfTheGroupIsCopied) {
  const auto graph = ParseGraph(R"(graph @g(%x: f32[16]) {
    %a = fused(%x) { graph(%v: f32[16]) { %n = neg(%v) : f32[16] return "": %n } } : f32[16]
    %b = fused(%a) { graph(%v: f32[16]) {
      %k = constant() {value = f32[1]<7>} : f32[1]
      %c = concat(%v, %k) {axis = 0} : f32[17]
      return "": %c } } : f32[17]
    %y = fused(%b) { graph(%v: f32[17]) { %n = neg(%v) : f32[17] return "": %n } } : f32[17]
    return "": %y
  })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Parts parts = PlaceConcatParts(**graph);
  EXPECT_TRUE(parts.empty());
  EXPECT_FALSE(IsConcatInPlace(*std::next((*graph)->nodes().begin())->get(), parts));
}

// A tensor begins at a cache line, so the second feature map cannot begin where the first ends within one.
TEST(Concat, PartsBeginWhereTensorsMay) {
  for (const auto& [plane, in_place] : {std::pair("3,3", false), std::pair("4,3", true)}) {
    const std::string map = absl::StrCat("f32[1,8,", plane, "]{c1/8}"),
                      both = absl::StrCat("f32[1,16,", plane, "]{c1/8}");
    const std::string negated = absl::StrCat(" = fused(%x) { graph(%v: ", map, ") { %n = neg(%v) : ", map,
                                             " return \"\": %n } } : ", map, "\n");
    const auto graph = ParseGraph(absl::StrCat(
        "graph @g(%x: ", map, ") {\n%a", negated, "%b", negated, "%c = fused(%a, %b) { graph(%v: ", map,
        ", %w: ", map, ") { %n = concat(%v, %w) {axis = 1} : ", both, " return \"\": %n } } : ", both,
        "\n%y = fused(%c) { graph(%v: ", both, ") { %n = neg(%v) : ", both, " return \"\": %n } } : ", both,
        "\nreturn \"\": %y\n}\n"));
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(PlaceConcatParts(**graph).size(), in_place ? 2u : 0u) << plane;
  }
}

TEST(View, AScalarOfABlockedValueIsNone) {
  const auto graph = ParseGraph(R"(graph @g(%x: f32[1,1,1,1]{c1/16}) {
    %a = fused(%x) { graph(%v: f32[1,1,1,1]{c1/16}) {
      %r = reshape(%v) {shape = []} : f32[]
      return "": %r } } : f32[]
    return "": %a
  })");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_FALSE(IsView(*(*graph)->nodes().front()));
}

}  // namespace
}  // namespace attune
