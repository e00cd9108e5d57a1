#include <gtest/gtest.h>

#include "opt/testing.h"

namespace attune {
namespace {

TEST(SwapPlanes, ImagesBecomeRowsAndRowsImages) {
  ExpectRewrite("swap_planes\ndead_code", R"(graph @g(%x: f32[4,3,5,7], %y: f32[1,3,4,35]) {
    %0 = reshape(%x) {shape = [4, 1, 3, 5, 7]} : f32[4,1,3,5,7]
    %1 = transpose(%0) {perm = [1, 2, 0, 3, 4]} : f32[1,3,4,5,7]
    %2 = reshape(%1) {shape = [1, 3, 4, 35]} : f32[1,3,4,35]
    %3 = reshape(%y) {shape = [1, 3, 4, 5, 7]} : f32[1,3,4,5,7]
    %4 = transpose(%3) {perm = [2, 0, 1, 3, 4]} : f32[4,1,3,5,7]
    %5 = reshape(%4) {shape = [4, 3, 5, 7]} : f32[4,3,5,7]
    return "rows": %2, "images": %5
  })",
                R"(graph @g(%x: f32[4,3,5,7], %y: f32[1,3,4,35]) {
    %0 = reshape(%x) {shape = [4, 3, 1, 35]} : f32[4,3,1,35]
    %1 = transpose(%0) {perm = [2, 1, 0, 3]} : f32[1,3,4,35]
    %2 = transpose(%y) {perm = [2, 1, 0, 3]} : f32[4,3,1,35]
    %3 = reshape(%2) {shape = [4, 3, 5, 7]} : f32[4,3,5,7]
    return "rows": %1, "images": %3
  })");
}

TEST(SwapPlanes, VolumesAreJoinedAsImages) {
  ExpectRewrite("swap_planes\ndead_code", R"(graph @g(%x: f32[4,3,5,7], %y: f32[1,2,4,5,7]) {
    %0 = reshape(%x) {shape = [4, 1, 3, 5, 7]} : f32[4,1,3,5,7]
    %1 = transpose(%0) {perm = [1, 2, 0, 3, 4]} : f32[1,3,4,5,7]
    %2 = concat(%1, %y) {axis = 1} : f32[1,5,4,5,7]
    %3 = transpose(%2) {perm = [2, 0, 1, 3, 4]} : f32[4,1,5,5,7]
    %4 = reshape(%3) {shape = [4, 5, 5, 7]} : f32[4,5,5,7]
    return "": %4
  })",
                R"(graph @g(%x: f32[4,3,5,7], %y: f32[1,2,4,5,7]) {
    %0 = transpose(%y) {perm = [2, 0, 1, 3, 4]} : f32[4,1,2,5,7]
    %1 = reshape(%0) {shape = [4, 2, 5, 7]} : f32[4,2,5,7]
    %2 = concat(%x, %1) {axis = 1} : f32[4,5,5,7]
    return "": %2
  })");
}

TEST(SwapPlanes, OtherTranspositionsStay) {
  ExpectUnchanged("swap_planes", R"(graph @g(%x: f32[4,3,5,7], %y: f32[1,6,5,7]) {
    %0 = transpose(%x) {perm = [0, 2, 1, 3]} : f32[4,5,3,7]
    %1 = reshape(%y) {shape = [1, 2, 3, 5, 7]} : f32[1,2,3,5,7]
    %2 = transpose(%1) {perm = [0, 2, 1, 3, 4]} : f32[1,3,2,5,7]
    %3 = reshape(%2) {shape = [1, 6, 5, 7]} : f32[1,6,5,7]
    %4 = transpose(%x) {perm = [1, 0, 3, 2]} : f32[3,4,7,5]
    return "a": %0, "b": %3, "c": %4
  })");
}

}  // namespace
}  // namespace attune
