#include <gtest/gtest.h>

#include "opt/testing.h"

namespace attune {
namespace {

TEST(FlattenVolumes, AConvolutionsPlanesAreChannels) {
  ExpectRewrite("flatten_volumes\nfold_constants\ndead_code", R"(graph @g(%x: f32[1,1,5,4,4]) {
    %w = constant() {value = f32[1,1,2,1,2]<1,2,3,4>} : f32[1,1,2,1,2]
    %y = conv(%x, %w) {pads = [1, 0, 0, 0, 0, 1], strides = [2, 1, 1]} @"y" : f32[1,1,3,4,4]
    return "y": %y
  })",
                R"(graph @g(%x: f32[1,1,5,4,4]) {
    %0 = transpose(%x) {perm = [2, 0, 1, 3, 4]} @"y" : f32[5,1,1,4,4]
    %1 = reshape(%0) {shape = [5, 1, 4, 4]} @"y" : f32[5,1,4,4]
    %2 = pad(%1) {pads = [1, 0, 0, 0, 0, 0, 0, 0]} @"y" : f32[6,1,4,4]
    %3 = slice(%2) {sizes = [3, 1, 4, 4], starts = [0, 0, 0, 0], steps = [2, 1, 1, 1]} @"y" : f32[3,1,4,4]
    %4 = slice(%2) {sizes = [3, 1, 4, 4], starts = [1, 0, 0, 0], steps = [2, 1, 1, 1]} @"y" : f32[3,1,4,4]
    %5 = concat(%3, %4) {axis = 1} @"y" : f32[3,2,4,4]
    %6 = constant() {value = f32[1,2,1,2]<1, 2, 3, 4>} @"y" : f32[1,2,1,2]
    %7 = conv(%5, %6) {pads = [0, 0, 0, 1], strides = [1, 1]} @"y" : f32[3,1,4,4]
    %8 = reshape(%7) {shape = [3, 1, 1, 4, 4]} @"y" : f32[3,1,1,4,4]
    %y = transpose(%8) {perm = [1, 2, 0, 3, 4]} @"y" : f32[1,1,3,4,4]
    return "y": %y
  })");
}

TEST(FlattenVolumes, AlongTheDepthPlanesAreRows) {
  ExpectRewrite("flatten_volumes\nfold_constants\ndead_code", R"(graph @g(%x: f32[1,2,5,4,4]) {
    %w = constant() {value = f32[2,1,2,1,1]<1,2,3,4>} : f32[2,1,2,1,1]
    %y = conv(%x, %w) {group = 2, pads = [1, 0, 0, 0, 0, 0], strides = [2, 1, 1]} @"y" : f32[1,2,3,4,4]
    return "y": %y
  })",
                R"(graph @g(%x: f32[1,2,5,4,4]) {
    %0 = reshape(%x) {shape = [1, 2, 5, 16]} @"y" : f32[1,2,5,16]
    %1 = constant() {value = f32[2,1,2,1]<1, 2, 3, 4>} @"y" : f32[2,1,2,1]
    %2 = conv(%0, %1) {group = 2, pads = [1, 0, 0, 0], strides = [2, 1]} @"y" : f32[1,2,3,16]
    %y = reshape(%2) {shape = [1, 2, 3, 4, 4]} @"y" : f32[1,2,3,4,4]
    return "y": %y
  })");
}

TEST(FlattenVolumes, GroupsOfPlanesAndPaddedMeansStay) {
  ExpectUnchanged("flatten_volumes", R"(graph @g(%x: f32[1,2,5,4,4]) {
    %w = constant() {value = f32[2,1,2,1,2]<1,2,3,4,5,6,7,8>} : f32[2,1,2,1,2]
    %y = conv(%x, %w) {group = 2} : f32[1,2,4,4,3]
    %z = avg_pool(%x) {kernel = [2, 2, 2]} : f32[1,2,4,3,3]
    return "y": %y, "z": %z
  })");
}

}  // namespace
}  // namespace attune
