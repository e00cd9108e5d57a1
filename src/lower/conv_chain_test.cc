#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "device/host.h"
#include "lower/kernel_under_test.h"

namespace attune {
namespace {

// Each text with LAYOUT replaced by each blocked layout, and TYPE by f32 and bf16.
std::vector<std::string> Variants(const std::vector<std::string>& texts) {
  std::vector<std::string> variants;
  for (const std::string& text : texts) {
    for (const char* layout : {"{c1/16}", "{c1/8}"}) {
      for (const char* type : {"f32", "bf16"})
        variants.push_back(absl::StrReplaceAll(text, {{"LAYOUT", layout}, {"TYPE", type}}));
    }
  }
  return variants;
}

// With an L2 that holds everything, and with one that holds few rows.
void ExpectChainsMatch(const std::vector<std::string>& groups) {
  ExpectKernelsMatch(groups);
  Target small = *HostTarget();
  small.name += " with a small cache";
  small.l2_bytes = 16 << 10;
  ExpectKernelsMatch(groups, small);
}

// The second case is in f32 only: the reference rounds results to bf16 that a kernel keeps in f32.
TEST(LowerConvChain, ExpansionAndDepthwise) {
  ExpectChainsMatch(Variants({
      R"(graph @g(%x: TYPE[1,16,12,20]LAYOUT, %w: TYPE[48,16,1,1], %b: TYPE[48], %v: TYPE[48,1,3,3]) {
        %y = conv(%x, %w, %b) : TYPE[1,48,12,20]LAYOUT
        %z = relu(%y) : TYPE[1,48,12,20]LAYOUT
        %d = conv(%z, %v) {group = 48, pads = [1, 1, 1, 1]} : TYPE[1,48,12,20]LAYOUT
        %e = relu(%d) : TYPE[1,48,12,20]LAYOUT
        return "": %e
      })",
      R"(graph @g(%x: f32[2,32,17,13]LAYOUT, %w: f32[20,32,1,1], %v: f32[20,1,5,5], %c: f32[20]) {
        %y = conv(%x, %w) : f32[2,20,17,13]LAYOUT
        %s = sigmoid(%y) : f32[2,20,17,13]LAYOUT
        %z = mul(%y, %s) : f32[2,20,17,13]LAYOUT
        %d = conv(%z, %v, %c) {group = 20, pads = [2, 2, 2, 2], strides = [2, 2]} : f32[2,20,9,7]LAYOUT
        return "": %d
      })"}));
}

TEST(LowerConvChain, Pools) {
  ExpectChainsMatch(Variants({
      R"(graph @g(%x: TYPE[1,3,31,33], %w: TYPE[32,3,7,7], %b: TYPE[32]) {
        %y = conv(%x, %w, %b) {pads = [3, 3, 3, 3], strides = [2, 2]} : TYPE[1,32,16,17]LAYOUT
        %z = relu(%y) : TYPE[1,32,16,17]LAYOUT
        %p = max_pool(%z) {kernel = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]} : TYPE[1,32,8,9]LAYOUT
        return "": %p
      })",
      R"(graph @g(%x: TYPE[1,32,14,14]LAYOUT, %w: TYPE[16,32,1,1]) {
        %y = conv(%x, %w) : TYPE[1,16,14,14]LAYOUT
        %p = avg_pool(%y) {kernel = [2, 2], strides = [2, 2]} : TYPE[1,16,7,7]LAYOUT
        %r = relu(%p) : TYPE[1,16,7,7]LAYOUT
        return "": %r
      })"}));
}

// The last convolution is dense, so row strips have all channels. In one case, the input is added.
TEST(LowerConvChain, ExpansionDepthwiseAndProjection) {
  ExpectChainsMatch(Variants({
      R"(graph @g(%x: TYPE[1,16,14,11]LAYOUT, %w: TYPE[32,16,1,1], %b: TYPE[32], %v: TYPE[32,1,3,3],
                  %u: TYPE[16,32,1,1], %c: TYPE[16]) {
        %y = conv(%x, %w, %b) : TYPE[1,32,14,11]LAYOUT
        %z = relu(%y) : TYPE[1,32,14,11]LAYOUT
        %d = conv(%z, %v) {group = 32, pads = [1, 1, 1, 1]} : TYPE[1,32,14,11]LAYOUT
        %e = relu(%d) : TYPE[1,32,14,11]LAYOUT
        %p = conv(%e, %u, %c) : TYPE[1,16,14,11]LAYOUT
        %s = add(%p, %x) : TYPE[1,16,14,11]LAYOUT
        return "": %s
      })",
      R"(graph @g(%x: TYPE[1,32,12,12]LAYOUT, %v: TYPE[32,1,3,3], %u: TYPE[24,32,1,1]) {
        %d = conv(%x, %v) {group = 32, pads = [0, 0, 1, 1], strides = [2, 2]} : TYPE[1,32,6,6]LAYOUT
        %p = conv(%d, %u) : TYPE[1,24,6,6]LAYOUT
        return "": %p
      })"}));
}

}  // namespace
}  // namespace attune
