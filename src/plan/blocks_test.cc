#include "plan/blocks.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "graph/text.h"
#include "plan/layout.h"

namespace attune {
namespace {

// Groups that are each a pointwise convolution, some of which add another feature map.
class ConvGraph {
 public:
  explicit ConvGraph(int channels) : text_("graph @g(%in: " + Type(channels)) { channels_["in"] = channels; }

  ConvGraph& Conv(const std::string& name, const std::string& input, int channels,
                  const std::string& added = "") {
    const std::string weights =
        "f32[" + std::to_string(channels) + "," + std::to_string(channels_[input]) + ",1,1]";
    const std::string type = Type(channels);
    parameters_ += ", %w" + name + ": " + weights;
    body_ += "%" + name + " = fused(%" + input + ", %w" + name + (added.empty() ? "" : ", %" + added) +
             ") { graph(%x: " + Type(channels_[input]) + ", %w: " + weights +
             (added.empty() ? "" : ", %r: " + type) + ") { %c = conv(%x, %w) : " + type +
             (added.empty() ? " return \"\": %c" : " %s = add(%c, %r) : " + type + " return \"\": %s") +
             " } } : " + type + "\n";
    channels_[name] = channels;
    return *this;
  }

  // The block of each convolution's output, in order.
  std::vector<int> Blocks(const std::string& output, const std::string& cpu,
                          const LayoutOverrides& overrides = {}) {
    const auto graph =
        ParseGraph(text_ + parameters_ + ") {\n" + body_ + "return \"\": %" + output + "\n}\n");
    EXPECT_TRUE(graph.ok()) << graph.status();
    const absl::StatusOr<int> classes = AssignLayouts(**graph, *TargetByName(cpu), overrides);
    EXPECT_TRUE(classes.ok()) << classes.status();
    classes_ = *classes;
    std::vector<int> blocks;
    for (const auto& node : (*graph)->nodes()) {
      if (node->op() == Op::kFused && node->output()->type().layout.blocked_axis == 1)
        blocks.push_back(node->output()->type().layout.block);
    }
    return blocks;
  }

  // The number of classes that there were to choose for.
  int classes() const { return classes_; }

 private:
  static std::string Type(int channels) { return "f32[1," + std::to_string(channels) + ",28,28]"; }

  std::string text_, parameters_, body_;
  std::map<std::string, int> channels_;
  int classes_ = 0;
};

using Expected = std::vector<int>;

TEST(ChooseBlocks, HalvesThemWhereTheLastOneWouldBeHalfEmpty) {
  ConvGraph graph =
      ConvGraph(32).Conv("a", "in", 64).Conv("b", "a", 24).Conv("c", "b", 96).Conv("d", "c", 40);
  EXPECT_EQ(graph.Blocks("d", "znver4"), (Expected{16, 8, 16, 8}));
  EXPECT_EQ(graph.Blocks("d", "skylake-avx512"), (Expected{16, 16, 16, 16}));
  EXPECT_EQ(graph.Blocks("d", "znver3"), (Expected{8, 8, 8, 8}));
}

TEST(ChooseBlocks, AgreesForMapsThatAreAdded) {
  ConvGraph graph = ConvGraph(32).Conv("a", "in", 24).Conv("b", "a", 144).Conv("c", "b", 24, "a");
  EXPECT_EQ(graph.Blocks("c", "znver4"), (Expected{8, 16, 8}));
}

TEST(ChooseBlocks, OverridesClassesByNumber) {
  ConvGraph graph = ConvGraph(32).Conv("a", "in", 24).Conv("b", "a", 24, "a").Conv("c", "b", 40);
  EXPECT_EQ(graph.Blocks("c", "znver4"), (Expected{8, 8, 8}));
  EXPECT_EQ(graph.classes(), 2);
  EXPECT_EQ(graph.Blocks("c", "znver4", {0}), (Expected{16, 16, 8}));
  EXPECT_EQ(graph.Blocks("c", "znver4", {1}), (Expected{8, 8, 16}));
  EXPECT_EQ(graph.Blocks("c", "znver4", {0, 1}), (Expected{16, 16, 16}));
  EXPECT_EQ(graph.Blocks("c", "znver3"), (Expected{8, 8, 8}));
  EXPECT_EQ(graph.classes(), 0);
}

TEST(ChooseBlocks, KeepsWholeOnesThatAreFull) {
  ConvGraph graph = ConvGraph(32).Conv("a", "in", 48).Conv("b", "a", 31);
  EXPECT_EQ(graph.Blocks("b", "znver4"), (Expected{16, 16}));
}

}  // namespace
}  // namespace attune
