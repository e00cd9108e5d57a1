#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "lower/kernel_under_test.h"

namespace attune {
namespace {

void ExpectMatch(const std::vector<std::string>& groups) {
  for (const char* layout : {"{c1/16}", "{c1/8}"}) {
    std::vector<std::string> texts;
    for (const std::string& group : groups) texts.push_back(absl::StrReplaceAll(group, {{"LAYOUT", layout}}));
    ExpectKernelsMatch(texts);
  }
}

TEST(LowerAverage, OfADepthwiseConvolution) {
  ExpectMatch({
      R"(graph @g(%x: f32[2,32,13,11]LAYOUT, %w: f32[32,1,3,3], %b: f32[32]) {
        %y = conv(%x, %w, %b) {group = 32, pads = [1, 1, 1, 1]} : f32[2,32,13,11]LAYOUT
        %z = silu(%y) : f32[2,32,13,11]LAYOUT
        %m = reduce_mean(%z) {axes = [2, 3], keepdims = 1} : f32[2,32,1,1]LAYOUT
        return "": %z, "m": %m
      })",
      R"(graph @g(%x: f32[1,20,8,40]LAYOUT, %w: f32[20,1,5,5]) {
        %y = conv(%x, %w) {group = 20, pads = [2, 2, 2, 2], strides = [2, 2]} : f32[1,20,4,20]LAYOUT
        %m = reduce_mean(%y) {axes = [2, 3], keepdims = 1} : f32[1,20,1,1]LAYOUT
        return "": %y, "m": %m
      })",
      R"(graph @g(%x: f32[1,32,8,8]LAYOUT) {
        %y = max_pool(%x) {kernel = [2, 2], strides = [2, 2]} : f32[1,32,4,4]LAYOUT
        %m = reduce_mean(%y) {axes = [2, 3], keepdims = 1} : f32[1,32,1,1]LAYOUT
        return "": %y, "m": %m
      })",
  });
}

// The bias has no element for the lanes beyond the last channel, so they are not computed.
TEST(LowerAverage, OfChannelsThatLeaveLanes) {
  ExpectMatch({
      R"(graph @g(%x: f32[2,18,9,5]LAYOUT, %w: f32[18,1,3,3], %b: f32[18]) {
        %y = conv(%x, %w, %b) {group = 18, pads = [1, 1, 1, 1]} : f32[2,18,9,5]LAYOUT
        %m = reduce_mean(%y) {axes = [2, 3], keepdims = 1} : f32[2,18,1,1]LAYOUT
        return "": %y, "m": %m
      })",
      R"(graph @g(%x: f32[2,18,9,5]LAYOUT, %w: f32[18,1,3,3], %b: f32[18]) {
        %y = conv(%x, %w, %b) {group = 18, pads = [1, 1, 1, 1]} : f32[2,18,9,5]LAYOUT
        %z = silu(%y) : f32[2,18,9,5]LAYOUT
        %m = reduce_mean(%z) {axes = [2, 3], keepdims = 1} : f32[2,18,1,1]LAYOUT
        return "": %z, "m": %m
      })",
  });
}

TEST(LowerAverage, OfAChain) {
  ExpectMatch({
      R"(graph @g(%x: f32[1,16,12,20]LAYOUT, %w: f32[48,16,1,1], %v: f32[48,1,3,3], %b: f32[48]) {
        %y = conv(%x, %w) : f32[1,48,12,20]LAYOUT
        %z = relu(%y) : f32[1,48,12,20]LAYOUT
        %d = conv(%z, %v, %b) {group = 48, pads = [1, 1, 1, 1]} : f32[1,48,12,20]LAYOUT
        %e = silu(%d) : f32[1,48,12,20]LAYOUT
        %m = reduce_mean(%e) {axes = [2, 3], keepdims = 1} : f32[1,48,1,1]LAYOUT
        return "": %e, "m": %m
      })",
  });
}

}  // namespace
}  // namespace attune
