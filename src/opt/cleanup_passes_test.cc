// Small cases for the passes that remove things, text in and text out. Random graphs test separately that
// the passes keep what a graph computes (equivalence_test.cc).
#include <gtest/gtest.h>

#include <string>

#include "opt/testing.h"

namespace attune {
namespace {

TEST(DeadCode, RemovesChainsAndConstants) {
  ExpectRewrite("dead_code", R"(graph @g(%x: f32[2]) {
    %c = constant() {value = f32[2]<1, 2>} : f32[2]
    %a = add(%x, %c) : f32[2]
    %b = neg(%a) : f32[2]
    return "out": %x
  })",
                R"(graph @g(%x: f32[2]) {
    return "out": %x
  })");
}

TEST(DeadCode, KeepsANodeWithOneUsedOutput) {
  ExpectUnchanged("dead_code", R"(graph @g(%x: f32[4]) {
    %v, %i = top_k(%x) {axis = 0, k = 2} : f32[2], i64[2]
    return "out": %i
  })");
}

TEST(FoldConstants, FoldsChains) {
  ExpectRewrite("fold_constants\ndead_code", R"(graph @g(%x: f32[2]) {
    %c = constant() {value = f32[2]<1, 2>} : f32[2]
    %d = neg(%c) : f32[2]
    %e = mul(%d, %d) : f32[2]
    %y = add(%x, %e) : f32[2]
    return "out": %y
  })",
                R"(graph @g(%x: f32[2]) {
    %e = constant() {value = f32[2]<1, 4>} : f32[2]
    %y = add(%x, %e) : f32[2]
    return "out": %y
  })");
}

TEST(FoldConstants, LeavesLargeBroadcasts) {
  ExpectUnchanged("fold_constants max_growth=100", R"(graph @g() {
    %c = constant() {value = f32[1]<1>} : f32[1]
    %d = broadcast(%c) {shape = [200]} : f32[200]
    return "out": %d
  })");
}

// Twenty results of 16 MiB: each one alone is allowed, together they are too much.
TEST(FoldConstants, BoundsWhatAllResultsTake) {
  std::string text = "graph @g() {\n  %c = constant() {value = f32[1]<1>} : f32[1]\n";
  std::string outputs;
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i);
    text += "  %d" + n + " = broadcast(%c) {shape = [4194304]} : f32[4194304]\n";
    outputs += (i == 0 ? "" : ", ") + ("\"o" + n + "\": %d" + n);
  }
  const std::unique_ptr<Graph> graph = ParseOrDie(text + "  return " + outputs + "\n}");
  int evaluated = 0;
  RunOptions options;
  options.evaluate = [&](const Node&, const std::vector<Tensor>&) {
    ++evaluated;
    return absl::UnimplementedError("only counted");
  };
  const absl::StatusOr<PassPlan> plan = ParsePassPlan("fold_constants max_growth=10000000");
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_TRUE(RunPlan(*graph, *plan, options).ok());
  EXPECT_EQ(evaluated, 16);
}

TEST(FoldConstants, LeavesWhatCannotBeEvaluated) {
  ExpectUnchanged("fold_constants", R"(graph @g() {
    %c = constant() {value = f32[1]<1>} : f32[1]
    %i = constant() {value = i64[1]<7>} : i64[1]
    %d = gather(%c, %i) {axis = 0} : f32[1]
    return "out": %d
  })");
}

TEST(InlineBranches, TakesTheBranchOfAConstantCondition) {
  ExpectRewrite("inline_branches\ndead_code", R"(graph @g(%x: f32[2]) {
    %c = constant() {value = bool[]<0>} : bool[]
    %y = if(%c, %x) {
      graph(%a: f32[2]) {
        return "": %a
      }
      graph(%b: f32[2]) {
        %n = neg(%b) : f32[2]
        %m = abs(%n) : f32[2]
        return "": %m
      }
    } : f32[2]
    %z = sqrt(%y) : f32[2]
    return "out": %z
  })",
                R"(graph @g(%x: f32[2]) {
    %0 = neg(%x) : f32[2]
    %1 = abs(%0) : f32[2]
    %z = sqrt(%1) : f32[2]
    return "out": %z
  })");
}

TEST(CommonSubexpressions, MergesEqualNodesAndConstants) {
  ExpectRewrite("common_subexpressions", R"(graph @g(%x: f32[2]) {
    %c = constant() {value = f32[2]<1, 2>} : f32[2]
    %d = constant() {value = f32[2]<1, 2>} : f32[2]
    %a = add(%x, %c) : f32[2]
    %b = add(%d, %x) : f32[2]
    %y = sub(%a, %b) : f32[2]
    return "out": %y
  })",
                R"(graph @g(%x: f32[2]) {
    %c = constant() {value = f32[2]<1, 2>} : f32[2]
    %a = add(%x, %c) : f32[2]
    %y = sub(%a, %a) : f32[2]
    return "out": %y
  })");
}

TEST(CommonSubexpressions, AttributesAndOrderMatter) {
  ExpectUnchanged("common_subexpressions", R"(graph @g(%x: f32[2,2], %y: f32[2,2]) {
    %a = softmax(%x) {axis = 0} : f32[2,2]
    %b = softmax(%x) {axis = 1} : f32[2,2]
    %c = sub(%x, %y) : f32[2,2]
    %d = sub(%y, %x) : f32[2,2]
    return "a": %a, "b": %b, "c": %c, "d": %d
  })");
}

TEST(Eliminate, RemovesWhatDoesNothing) {
  ExpectRewrite("eliminate\ndead_code", R"(graph @g(%x: f32[1,2,3]) {
    %0 = identity(%x) : f32[1,2,3]
    %1 = cast(%0) {to = f32} : f32[1,2,3]
    %2 = transpose(%1) {perm = [0, 1, 2]} : f32[1,2,3]
    %3 = reshape(%2) {shape = [1, 2, 3]} : f32[1,2,3]
    %4 = slice(%3) {sizes = [1, 2, 3], starts = [0, 0, 0], steps = [1, 1, 1]} : f32[1,2,3]
    %5 = pad(%4) {pads = [0, 0, 0, 0, 0, 0]} : f32[1,2,3]
    %6 = broadcast(%5) {shape = [1, 2, 3]} : f32[1,2,3]
    %7 = concat(%6) {axis = 1} : f32[1,2,3]
    %8 = reduce_sum(%7) {axes = [0]} : f32[1,2,3]
    %9 = clip(%8) : f32[1,2,3]
    %y = neg(%9) : f32[1,2,3]
    return "out": %y
  })",
                R"(graph @g(%x: f32[1,2,3]) {
    %y = neg(%x) : f32[1,2,3]
    return "out": %y
  })");
}

TEST(Eliminate, ReversedSliceIsKept) {
  ExpectUnchanged("eliminate", R"(graph @g(%x: f32[3]) {
    %y = slice(%x) {sizes = [3], starts = [2], steps = [-1]} : f32[3]
    return "out": %y
  })");
}

TEST(Eliminate, LosslessCastsMeet) {
  ExpectRewrite("eliminate\ndead_code", R"(graph @g(%x: i8[2], %y: f32[2], %z: i32[2]) {
    %a = cast(%x) {to = i32} : i32[2]
    %b = cast(%a) {to = f32} : f32[2]
    %c = cast(%y) {to = f16} : f16[2]
    %d = cast(%c) {to = f32} : f32[2]
    %e = cast(%z) {to = f64} : f64[2]
    %f = cast(%e) {to = i8} : i8[2]
    return "b": %b, "d": %d, "f": %f
  })",
                R"(graph @g(%x: i8[2], %y: f32[2], %z: i32[2]) {
    %b = cast(%x) {to = f32} : f32[2]
    %c = cast(%y) {to = f16} : f16[2]
    %d = cast(%c) {to = f32} : f32[2]
    %e = cast(%z) {to = f64} : f64[2]
    %f = cast(%e) {to = i8} : i8[2]
    return "b": %b, "d": %d, "f": %f
  })");
}

TEST(Eliminate, SliceOfConcatTakesFromItsOperand) {
  ExpectRewrite("eliminate\ndead_code", R"(graph @g(%x: f32[2], %y: f32[3]) {
    %c = concat(%x, %y) {axis = 0} : f32[5]
    %s = slice(%c) {sizes = [2], starts = [3], steps = [1]} : f32[2]
    return "out": %s
  })",
                R"(graph @g(%x: f32[2], %y: f32[3]) {
    %s = slice(%y) {sizes = [2], starts = [1], steps = [1]} : f32[2]
    return "out": %s
  })");
}

TEST(Eliminate, ElementwiseOperatorsBroadcastThemselves) {
  ExpectRewrite("eliminate\ndead_code", R"(graph @g(%x: f32[2,3], %y: f32[3]) {
    %b = broadcast(%y) {shape = [2, 3]} : f32[2,3]
    %s = add(%x, %b) : f32[2,3]
    %t = add(%b, %b) : f32[2,3]
    return "s": %s, "t": %t
  })",
                R"(graph @g(%x: f32[2,3], %y: f32[3]) {
    %b = broadcast(%y) {shape = [2, 3]} : f32[2,3]
    %s = add(%x, %y) : f32[2,3]
    %t = add(%y, %b) : f32[2,3]
    return "s": %s, "t": %t
  })");
}

}  // namespace
}  // namespace attune
