#include <gtest/gtest.h>

#include "opt/testing.h"

namespace attune {
namespace {

TEST(UnsqueezeImages, ConvolutionsGetARow) {
  ExpectRewrite("unsqueeze_images\ndead_code", R"(graph @g(%x: f32[1,2,9]) {
    %w = constant() {value = f32[2,1,2]<1,2,3,4>} : f32[2,1,2]
    %y = conv(%x, %w) {dilations = [2], group = 2, pads = [1, 3], strides = [2]} @"y" : f32[1,2,6]
    return "y": %y
  })",
                R"(graph @g(%x: f32[1,2,9]) {
    %0 = reshape(%x) {shape = [1, 2, 1, 9]} @"y" : f32[1,2,1,9]
    %1 = constant() {value = f32[2,1,1,2]<1,2,3,4>} @"y" : f32[2,1,1,2]
    %2 = conv(%0, %1) {dilations = [1, 2], group = 2, pads = [0, 1, 0, 3], strides = [1, 2]} @"y" : f32[1,2,1,6]
    %y = reshape(%2) {shape = [1, 2, 6]} @"y" : f32[1,2,6]
    return "y": %y
  })");
}

TEST(UnsqueezeImages, PoolsGetARow) {
  ExpectRewrite("unsqueeze_images", R"(graph @g(%x: f32[1,2,9]) {
    %y = avg_pool(%x) {kernel = [3], pads = [1, 0], strides = [2]} @"y" : f32[1,2,4]
    return "y": %y
  })",
                R"(graph @g(%x: f32[1,2,9]) {
    %0 = reshape(%x) {shape = [1, 2, 1, 9]} @"y" : f32[1,2,1,9]
    %1 = avg_pool(%0) {kernel = [1, 3], pads = [0, 1, 0, 0], strides = [1, 2]} @"y" : f32[1,2,1,4]
    %y = reshape(%1) {shape = [1, 2, 4]} @"y" : f32[1,2,4]
    return "y": %y
  })");
}

TEST(UnsqueezeImages, ImagesStay) {
  ExpectUnchanged("unsqueeze_images", R"(graph @g(%x: f32[1,2,9,9]) {
    %y = max_pool(%x) {kernel = [3, 3]} : f32[1,2,7,7]
    return "y": %y
  })");
}

}  // namespace
}  // namespace attune
