// Small cases for the passes that fold, move and merge operators, text in and text out. Random graphs test
// separately that the passes keep what a graph computes (equivalence_test.cc).
#include <gtest/gtest.h>

#include "opt/testing.h"

namespace attune {
namespace {

TEST(FoldAffine, BatchNormEndsInTheWeights) {
  ExpectRewrite("decompose_batch_norm\nfold_affine\ndead_code", R"(graph @g(%x: f32[1,1,2,2]) {
    %w = constant() {value = f32[2,1,1,1]<1, 2>} : f32[2,1,1,1]
    %scale = constant() {value = f32[2]<1, 2>} : f32[2]
    %bias = constant() {value = f32[2]<10, 20>} : f32[2]
    %mean = constant() {value = f32[2]<3, 4>} : f32[2]
    %var = constant() {value = f32[2]<0.75, 3.75>} : f32[2]
    %c = conv(%x, %w) @"conv" : f32[1,2,2,2]
    %y = batch_norm(%c, %scale, %bias, %mean, %var) {epsilon = 0.25} @"bn" : f32[1,2,2,2]
    return "out": %y
  })",
                R"(graph @g(%x: f32[1,1,2,2]) {
    %0 = constant() {value = f32[2,1,1,1]<1, 2>} @"conv" : f32[2,1,1,1]
    %1 = constant() {value = f32[2]<7, 16>} @"conv" : f32[2]
    %y = conv(%x, %0, %1) @"conv" : f32[1,2,2,2]
    return "out": %y
  })");
}

TEST(FoldAffine, NotWhereTheConvolutionIsUsedElsewhere) {
  ExpectUnchanged("fold_affine", R"(graph @g(%x: f32[1,1,2,2]) {
    %w = constant() {value = f32[1,1,1,1]<1>} : f32[1,1,1,1]
    %s = constant() {value = f32[]<2>} : f32[]
    %c = conv(%x, %w) : f32[1,1,2,2]
    %y = mul(%c, %s) : f32[1,1,2,2]
    return "out": %y, "conv": %c
  })");
}

TEST(FoldAffine, FactorsThatOverflowStay) {
  ExpectUnchanged("fold_affine", R"(graph @g(%x: f16[1,1,2,2]) {
    %w = constant() {value = f16[1,1,1,1]<60000>} : f16[1,1,1,1]
    %s = constant() {value = f16[]<2>} : f16[]
    %c = conv(%x, %w) : f16[1,1,2,2]
    %y = mul(%c, %s) : f16[1,1,2,2]
    return "out": %y
  })");
}

TEST(HoistPools, AveragesComeBeforeProducts) {
  ExpectRewrite("hoist_pools", R"(graph @g(%x: f32[1,4,6,6], %w: f32[2,4,1,1], %b: f32[2]) {
    %c = conv(%x, %w, %b) @"conv" : f32[1,2,6,6]
    %y = avg_pool(%c) {kernel = [2, 2], strides = [2, 2]} @"pool" : f32[1,2,3,3]
    return "out": %y
  })",
                R"(graph @g(%x: f32[1,4,6,6], %w: f32[2,4,1,1], %b: f32[2]) {
    %0 = avg_pool(%x) {kernel = [2, 2], strides = [2, 2]} @"pool" : f32[1,4,3,3]
    %y = conv(%0, %w, %b) @"pool" : f32[1,2,3,3]
    return "out": %y
  })");
}

TEST(HoistPools, NotWherePaddingIsAveraged) {
  ExpectUnchanged("hoist_pools", R"(graph @g(%x: f32[1,4,6,6], %w: f32[2,4,1,1], %b: f32[2]) {
    %c = conv(%x, %w, %b) : f32[1,2,6,6]
    %y = avg_pool(%c) {kernel = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1], count_include_pad = 1} : f32[1,2,4,4]
    return "out": %y
  })");
}

TEST(HoistPools, NotWhereTheConvolutionIsUsedElsewhereOrSeesNeighbours) {
  ExpectUnchanged("hoist_pools", R"(graph @g(%x: f32[1,4,6,6], %w: f32[2,4,1,1], %v: f32[2,4,3,3]) {
    %c = conv(%x, %w) : f32[1,2,6,6]
    %y = avg_pool(%c) {kernel = [2, 2], strides = [2, 2]} : f32[1,2,3,3]
    %d = conv(%x, %v) {pads = [1, 1, 1, 1]} : f32[1,2,6,6]
    %z = avg_pool(%d) {kernel = [2, 2], strides = [2, 2]} : f32[1,2,3,3]
    return "out": %y, "conv": %c, "z": %z
  })");
}

TEST(DecomposeConvTranspose, PhasesAreChannels) {
  // Along the second spatial axis: phase 0 sees taps 0 and 2, phase 1 tap 1.
  ExpectRewrite("decompose_conv_transpose\ndead_code", R"(graph @g(%x: f32[1,1,1,3]) {
    %w = constant() {value = f32[1,1,1,3]<1, 2, 3>} : f32[1,1,1,3]
    %b = constant() {value = f32[1]<5>} : f32[1]
    %y = conv_transpose(%x, %w, %b) {strides = [2, 2], pads = [0, 1, 0, 1]} @"up" : f32[1,1,1,5]
    return "out": %y
  })",
                R"(graph @g(%x: f32[1,1,1,3]) {
    %0 = constant() {value = f32[4,1,1,2]<3, 1, 0, 2, 0, 0, 0, 0>} @"up" : f32[4,1,1,2]
    %1 = constant() {value = f32[4]<5, 5, 5, 5>} @"up" : f32[4]
    %2 = conv(%x, %0, %1) {group = 1, pads = [0, 1, 0, 0]} @"up" : f32[1,4,1,3]
    %3 = depth_to_space(%2) {block = 2} @"up" : f32[1,1,2,6]
    %y = slice(%3) {sizes = [1, 1, 1, 5], starts = [0, 0, 0, 1], steps = [1, 1, 1, 1]} @"up" : f32[1,1,1,5]
    return "out": %y
  })");
}

TEST(DecomposeConvTranspose, PhasesOfAGroupStayTogetherAndDilationLeavesTapsOut) {
  // With two groups of one channel, phase 0 sees both taps, which are two apart, and phase 1 none.
  ExpectRewrite("decompose_conv_transpose\ndead_code", R"(graph @g(%x: f32[1,2,1,3]) {
    %w = constant() {value = f32[2,1,1,2]<1, 2, 3, 4>} : f32[2,1,1,2]
    %y = conv_transpose(%x, %w) {strides = [1, 2], dilations = [1, 2], group = 2} @"up" : f32[1,2,1,7]
    return "out": %y
  })",
                R"(graph @g(%x: f32[1,2,1,3]) {
    %0 = constant() {value = f32[4,1,1,2]<2, 1, 0, 0, 4, 3, 0, 0>} @"up" : f32[4,1,1,2]
    %1 = conv(%x, %0) {group = 2, pads = [0, 1, 0, 1]} @"up" : f32[1,4,1,4]
    %2 = reshape(%1) {shape = [1, 2, 1, 2, 1, 4]} @"up" : f32[1,2,1,2,1,4]
    %3 = transpose(%2) {perm = [0, 1, 4, 2, 5, 3]} @"up" : f32[1,2,1,1,4,2]
    %4 = reshape(%3) {shape = [1, 2, 1, 8]} @"up" : f32[1,2,1,8]
    %y = slice(%4) {sizes = [1, 2, 1, 7], starts = [0, 0, 0, 0], steps = [1, 1, 1, 1]} @"up" : f32[1,2,1,7]
    return "out": %y
  })");
}

TEST(DecomposeConvTranspose, Volumes) {
  ExpectRewrite("decompose_conv_transpose\ndead_code", R"(graph @g(%x: f32[1,1,1,1,2]) {
    %w = constant() {value = f32[1,1,2,1,1]<1, 2>} : f32[1,1,2,1,1]
    %y = conv_transpose(%x, %w) {strides = [2, 1, 1]} @"up" : f32[1,1,2,1,2]
    return "out": %y
  })",
                R"(graph @g(%x: f32[1,1,1,1,2]) {
    %0 = constant() {value = f32[2,1,1,1,1]<1, 2>} @"up" : f32[2,1,1,1,1]
    %1 = conv(%x, %0) {group = 1, pads = [0, 0, 0, 0, 0, 0]} @"up" : f32[1,2,1,1,2]
    %2 = reshape(%1) {shape = [1, 2, 1, 1, 1, 1, 1, 2]} @"up" : f32[1,2,1,1,1,1,1,2]
    %3 = transpose(%2) {perm = [0, 4, 5, 1, 6, 2, 7, 3]} @"up" : f32[1,1,1,2,1,1,2,1]
    %4 = reshape(%3) {shape = [1, 1, 2, 1, 2]} @"up" : f32[1,1,2,1,2]
    %y = slice(%4) {sizes = [1, 1, 2, 1, 2], starts = [0, 0, 0, 0, 0], steps = [1, 1, 1, 1, 1]} @"up" : f32[1,1,2,1,2]
    return "out": %y
  })");
}

TEST(FoldPad, IntoConvolutionAndPools) {
  ExpectRewrite("fold_pad\ndead_code", R"(graph @g(%x: f32[1,1,4,4], %w: f32[1,1,3,3]) {
    %p = pad(%x) {pads = [0, 0, 1, 0, 0, 0, 1, 2]} : f32[1,1,6,6]
    %c = conv(%p, %w) {pads = [0, 1, 0, 0]} : f32[1,1,4,5]
    %a = avg_pool(%p) {kernel = [3, 3]} : f32[1,1,4,4]
    %r = relu(%x) : f32[1,1,4,4]
    %q = pad(%r) {pads = [0, 0, 1, 1, 0, 0, 1, 1]} : f32[1,1,6,6]
    %m = max_pool(%q) {kernel = [3, 3]} : f32[1,1,4,4]
    return "c": %c, "a": %a, "m": %m
  })",
                R"(graph @g(%x: f32[1,1,4,4], %w: f32[1,1,3,3]) {
    %c = conv(%x, %w) {pads = [1, 1, 1, 2]} : f32[1,1,4,5]
    %a = avg_pool(%x) {count_include_pad = 1, kernel = [3, 3], pads = [1, 0, 1, 2]} : f32[1,1,4,4]
    %r = relu(%x) : f32[1,1,4,4]
    %m = max_pool(%r) {kernel = [3, 3], pads = [1, 1, 1, 1]} : f32[1,1,4,4]
    return "c": %c, "a": %a, "m": %m
  })");
}

TEST(FoldPad, NotWherePaddingDiffers) {
  ExpectUnchanged("fold_pad", R"(graph @g(%x: f32[1,1,4,4], %w: f32[1,1,3,3]) {
    %p = pad(%x) {pads = [0, 0, 1, 1, 0, 0, 1, 1]} : f32[1,1,6,6]
    %m = max_pool(%p) {kernel = [3, 3]} : f32[1,1,4,4]
    %q = pad(%x) {mode = "reflect", pads = [0, 0, 1, 1, 0, 0, 1, 1]} : f32[1,1,6,6]
    %c = conv(%q, %w) : f32[1,1,4,4]
    %a = avg_pool(%p) {kernel = [3, 3], pads = [1, 1, 1, 1]} : f32[1,1,6,6]
    return "m": %m, "c": %c, "a": %a
  })");
}

TEST(PushSlices, SlicesBeforeTransposing) {
  ExpectRewrite("push_slices\ndead_code", R"(graph @g(%x: f32[5,1,3,4]) {
    %i = constant() {value = i64[]<0>} : i64[]
    %j = constant() {value = i64[]<2>} : i64[]
    %t = transpose(%x) {perm = [2, 1, 0, 3]} : f32[3,1,5,4]
    %r = reshape(%t) {shape = [3, 5, 4]} : f32[3,5,4]
    %a = gather(%r, %i) {axis = 0} : f32[5,4]
    %b = gather(%r, %j) {axis = 0} : f32[5,4]
    return "a": %a, "b": %b
  })",
                R"(graph @g(%x: f32[5,1,3,4]) {
    %0 = slice(%x) {sizes = [5, 1, 1, 4], starts = [0, 0, 0, 0], steps = [1, 1, 1, 1]} : f32[5,1,1,4]
    %1 = transpose(%0) {perm = [2, 1, 0, 3]} : f32[1,1,5,4]
    %2 = reshape(%1) {shape = [1, 5, 4]} : f32[1,5,4]
    %a = reshape(%2) {shape = [5, 4]} : f32[5,4]
    %3 = slice(%x) {sizes = [5, 1, 1, 4], starts = [0, 0, 2, 0], steps = [1, 1, 1, 1]} : f32[5,1,1,4]
    %4 = transpose(%3) {perm = [2, 1, 0, 3]} : f32[1,1,5,4]
    %5 = reshape(%4) {shape = [1, 5, 4]} : f32[1,5,4]
    %b = reshape(%5) {shape = [5, 4]} : f32[5,4]
    return "a": %a, "b": %b
  })");
}

TEST(PushSlices, GathersBeforeWideningATable) {
  ExpectRewrite("push_slices\ndead_code", R"(graph @g(%i: i64[2]) {
    %t = constant() {value = i8[3,2]<1, 2, 3, 4, 5, 6>} : i8[3,2]
    %s = constant() {value = f32[3,1]<1, 2, 3>} : f32[3,1]
    %c = cast(%t) {to = f32} : f32[3,2]
    %m = mul(%c, %s) : f32[3,2]
    %y = gather(%m, %i) {axis = 0} : f32[2,2]
    return "out": %y
  })",
                R"(graph @g(%i: i64[2]) {
    %t = constant() {value = i8[3,2]<1, 2, 3, 4, 5, 6>} : i8[3,2]
    %s = constant() {value = f32[3,1]<1, 2, 3>} : f32[3,1]
    %0 = gather(%t, %i) {axis = 0} : i8[2,2]
    %1 = cast(%0) {to = f32} : f32[2,2]
    %2 = gather(%s, %i) {axis = 0} : f32[2,1]
    %y = mul(%1, %2) : f32[2,2]
    return "out": %y
  })");
}

TEST(SinkTransposes, CancelAcrossElementwiseAndConcat) {
  ExpectRewrite("sink_transposes\nfold_constants\ndead_code",
                R"(graph @g(%x: f32[1,2,3,4], %y: f32[1,2,3,4]) {
    %c = constant() {value = f32[2]<5, 6>} : f32[2]
    %a = transpose(%x) {perm = [0, 2, 3, 1]} : f32[1,3,4,2]
    %b = transpose(%y) {perm = [0, 2, 3, 1]} : f32[1,3,4,2]
    %d = add(%a, %c) : f32[1,3,4,2]
    %e = relu(%d) : f32[1,3,4,2]
    %f = concat(%e, %b) {axis = 3} : f32[1,3,4,4]
    %g = transpose(%f) {perm = [0, 3, 1, 2]} : f32[1,4,3,4]
    return "out": %g
  })",
                R"(graph @g(%x: f32[1,2,3,4], %y: f32[1,2,3,4]) {
    %0 = constant() {value = f32[1,2,1,1]<5, 6>} : f32[1,2,1,1]
    %1 = add(%x, %0) : f32[1,2,3,4]
    %2 = relu(%1) : f32[1,2,3,4]
    %g = concat(%2, %y) {axis = 1} : f32[1,4,3,4]
    return "out": %g
  })");
}

TEST(SinkTransposes, ReductionsLoseAxes) {
  ExpectRewrite("sink_transposes", R"(graph @g(%x: f32[2,3,4]) {
    %t = transpose(%x) {perm = [2, 0, 1]} : f32[4,2,3]
    %y = reduce_max(%t) {axes = [1], keepdims = 0} : f32[4,3]
    return "out": %y
  })",
                R"(graph @g(%x: f32[2,3,4]) {
    %0 = reduce_max(%x) {axes = [0], keepdims = 0} : f32[3,4]
    %y = transpose(%0) {perm = [1, 0]} : f32[4,3]
    return "out": %y
  })");
}

TEST(SinkTransposes, WaysThatMeetAgain) {
  ExpectRewrite("sink_transposes\ndead_code", R"(graph @g(%x: f32[2,3]) {
    %c = constant() {value = f32[]<0.5>} : f32[]
    %t = transpose(%x) {perm = [1, 0]} : f32[3,2]
    %n = less(%t, %c) : bool[3,2]
    %m = mul(%t, %c) : f32[3,2]
    %y = where(%n, %m, %t) : f32[3,2]
    return "out": %y
  })",
                R"(graph @g(%x: f32[2,3]) {
    %c = constant() {value = f32[]<0.5>} : f32[]
    %0 = less(%x, %c) : bool[2,3]
    %1 = mul(%x, %c) : f32[2,3]
    %2 = where(%0, %1, %x) : f32[2,3]
    %y = transpose(%2) {perm = [1, 0]} : f32[3,2]
    return "out": %y
  })");
}

TEST(SinkTransposes, NotWhereOnlyOneOperandIsTransposed) {
  ExpectUnchanged("sink_transposes", R"(graph @g(%x: f32[2,3], %y: f32[3,2]) {
    %t = transpose(%x) {perm = [1, 0]} : f32[3,2]
    %z = add(%t, %y) : f32[3,2]
    return "out": %z
  })");
}

TEST(SinkReshapes, AReductionOfARowIsOneOfTheImage) {
  ExpectRewrite("sink_reshapes", R"(graph @g(%x: f32[2,3,1,5]) {
    %0 = reshape(%x) {shape = [2, 3, 5]} : f32[2,3,5]
    %1 = reduce_max(%0) {axes = [2], keepdims = 1} : f32[2,3,1]
    return "": %1
  })",
                R"(graph @g(%x: f32[2,3,1,5]) {
    %0 = reduce_max(%x) {axes = [2, 3], keepdims = 1} : f32[2,3,1,1]
    %1 = reshape(%0) {shape = [2, 3, 1]} : f32[2,3,1]
    return "": %1
  })");
}

TEST(SinkReshapes, BiasAndActivationJoinTheProduct) {
  ExpectRewrite("sink_reshapes", R"(graph @g(%x: f32[6,2], %w: f32[2,4], %z: f32[2,3,4]) {
    %b = constant() {value = f32[4]<1, 2, 3, 4>} : f32[4]
    %m = matmul(%x, %w) : f32[6,4]
    %r = reshape(%m) {shape = [2, 3, 4]} : f32[2,3,4]
    %a = add(%r, %b) : f32[2,3,4]
    %y = add(%z, %a) : f32[2,3,4]
    return "out": %y
  })",
                R"(graph @g(%x: f32[6,2], %w: f32[2,4], %z: f32[2,3,4]) {
    %b = constant() {value = f32[4]<1, 2, 3, 4>} : f32[4]
    %m = matmul(%x, %w) : f32[6,4]
    %0 = constant() {value = f32[4]<1, 2, 3, 4>} : f32[4]
    %1 = add(%m, %0) : f32[6,4]
    %2 = reshape(%z) {shape = [6, 4]} : f32[6,4]
    %3 = add(%2, %1) : f32[6,4]
    %y = reshape(%3) {shape = [2, 3, 4]} : f32[2,3,4]
    return "out": %y
  })");
}

TEST(FuseHorizontal, MatricesWithBiasAndActivation) {
  ExpectRewrite("fuse_horizontal multiple=1", R"(graph @g(%x: f32[2,2]) {
    %v = constant() {value = f32[2,1]<1, 2>} : f32[2,1]
    %w = constant() {value = f32[2,2]<3, 4, 5, 6>} : f32[2,2]
    %b = constant() {value = f32[1]<7>} : f32[1]
    %c = constant() {value = f32[2]<8, 9>} : f32[2]
    %m = matmul(%x, %v) @"m" : f32[2,1]
    %n = matmul(%x, %w) @"n" : f32[2,2]
    %d = add(%m, %b) @"d" : f32[2,1]
    %e = add(%n, %c) @"e" : f32[2,2]
    %f = relu(%d) @"f" : f32[2,1]
    %h = relu(%e) @"h" : f32[2,2]
    return "f": %f, "h": %h
  })",
                R"(graph @g(%x: f32[2,2]) {
    %0 = constant() {value = f32[2,3]<1, 3, 4, 2, 5, 6>} @"m" : f32[2,3]
    %1 = matmul(%x, %0) @"m" : f32[2,3]
    %2 = constant() {value = f32[3]<7, 8, 9>} : f32[3]
    %3 = add(%1, %2) @"d" : f32[2,3]
    %4 = relu(%3) @"f" : f32[2,3]
    %f = slice(%4) {sizes = [2, 1], starts = [0, 0], steps = [1, 1]} @"f" : f32[2,1]
    %h = slice(%4) {sizes = [2, 2], starts = [0, 1], steps = [1, 1]} @"h" : f32[2,2]
    return "f": %f, "h": %h
  })");
}

TEST(FuseHorizontal, OnlyEqualGeometryAndWithinLimits) {
  ExpectUnchanged("fuse_horizontal multiple=1 max_channels=3", R"(graph @g(%x: f32[1,1,4,4]) {
    %a = constant() {value = f32[1,1,1,1]<1>} : f32[1,1,1,1]
    %b = constant() {value = f32[1,1,1,2]<1, 2>} : f32[1,1,1,2]
    %c = constant() {value = f32[4,1,1,1]<1, 2, 3, 4>} : f32[4,1,1,1]
    %d = conv(%x, %a) : f32[1,1,4,4]
    %e = conv(%x, %b) : f32[1,1,4,3]
    %f = conv(%x, %c) : f32[1,4,4,4]
    %g = conv(%x, %a) {strides = [2, 2]} : f32[1,1,2,2]
    return "d": %d, "e": %e, "f": %f, "g": %g
  })");
}

}  // namespace
}  // namespace attune
