#include <gtest/gtest.h>

#include "lower/kernel_under_test.h"

namespace attune {
namespace {

const std::vector<std::string> kFloats = {"f32", "f64", "f16", "bf16"};

TEST(LowerNormalization, OverTheLastAxes) {
  ExpectKernelsMatch(InEachDType(
      {{Op::kLayerNorm, {"f32[3,5,70]", "f32[70]", "f32[70]"}, {{"axis", int64_t{2}}, {"epsilon", 1e-5}}}},
      "f32", kFloats));
  ExpectKernelsMatch(
      {{Op::kLayerNorm, {"f32[2,3,4,9]"}, {{"axis", int64_t{2}}, {"epsilon", 1e-5}}},
       {Op::kLayerNorm, {"f32[40]", "f32[40]"}, {{"axis", int64_t{0}}, {"epsilon", 1e-5}}},
       {Op::kRmsNorm, {"f32[5,64]", "f32[64]"}, {{"axis", int64_t{1}}, {"epsilon", 1e-6}}, "", {Op::kSilu}},
       {Op::kLayerNorm, {"f32[0,8]"}, {{"axis", int64_t{1}}, {"epsilon", 1e-5}}}});
}

TEST(LowerNormalization, OverGroupsAndBatches) {
  ExpectKernelsMatch({{Op::kGroupNorm,
                       {"f32[2,12,3,5]", "f32[12]", "f32[12]"},
                       {{"groups", int64_t{3}}, {"epsilon", 1e-5}}}});
  ExpectKernelsMatch(InEachLayout({{Op::kGroupNorm,
                                    {"f32[2,20,9,7]", "f32[20]", "f32[20]"},
                                    {{"groups", int64_t{20}}, {"epsilon", 1e-5}},
                                    "",
                                    {Op::kRelu}}}));
  ExpectKernelsMatch(InEachLayout({{Op::kBatchNorm,
                                    {"f32[2,20,3,5]", "f32[20]", "f32[20]", "f32[20]", "f32[20] 0.1..2"},
                                    {{"epsilon", 1e-5}},
                                    "",
                                    {Op::kRelu}}}));
}

TEST(LowerNormalization, Softmax) {
  for (Op op : {Op::kSoftmax, Op::kLogSoftmax}) {
    ExpectKernelsMatch(InEachDType({{op, {"f32[3,130]"}, {{"axis", int64_t{1}}}}}, "f32", kFloats));
    ExpectKernelsMatch({{op, {"f32[2,5,3,20]"}, {{"axis", int64_t{1}}}},
                        {op, {"f32[2,3,4]"}, {{"axis", int64_t{0}}}},
                        {op, {"f32[9]"}, {{"axis", int64_t{0}}}},
                        {op, {"f32[4,1]"}, {{"axis", int64_t{1}}}},
                        {op, {"f32[2,3] -inf 1 2 inf 0 -inf"}, {{"axis", int64_t{1}}}}});
  }
}

TEST(LowerNormalization, Attention) {
  ExpectKernelsMatch(
      {{Op::kAttention,
        {"f32[1,2,5,16]", "f32[1,2,40,16]", "f32[1,2,40,24]", "f32[1,1,1,40]"},
        {{"scale", 0.25}}},
       {Op::kAttention,
        {"f32[2,2,12,16]", "f32[2,2,48,16]", "f32[2,2,48,32]", "f32[2,1,12,48]"},
        {{"scale", 0.25}}},
       {Op::kAttention,
        {"f32[1,2,21,16]", "f32[1,2,37,16]", "f32[1,2,37,32]", "f32[1,1,21,37]"},
        {{"scale", 0.25}}},
       // Values that do not fill vectors.
       {Op::kAttention, {"f32[1,2,19,20]", "f32[1,2,35,20]", "f32[1,2,35,36]"}, {{"scale", 0.2}}},
       {Op::kAttention, {"f32[2,1,16,20]", "f32[2,1,32,20]", "f32[2,1,32,5]"}, {{"scale", 0.2}}},
       // One or two queries, with keys that are not copied.
       {Op::kAttention, {"f32[1,3,1,32]", "f32[1,3,37,32]", "f32[1,3,37,64]"}, {{"scale", 0.2}}},
       {Op::kAttention,
        {"f32[2,1,2,64]", "f32[2,1,16,64]", "f32[2,1,16,24]", "f32[1,1,2,16]"},
        {{"scale", 0.2}}},
       {Op::kAttention, {"f32[1,1,1,3]", "f32[1,1,2,3]", "f32[1,1,2,3]"}, {{"scale", 0.5}}}});
}

// Terms are taken in pairs if sizes are even and the processor has instructions for them. One mask is f32.
TEST(LowerNormalization, AttentionOfBF16) {
  const Attributes attrs = {{"scale", 0.25}};
  ExpectKernelsMatch(
      {{Op::kAttention, {"bf16[1,2,16,32]", "bf16[1,2,24,32]", "bf16[1,2,24,16]"}, attrs},
       {Op::kAttention, {"bf16[1,2,16,32]", "bf16[1,2,24,32]", "bf16[1,2,24,64]", "f32[1,1,16,24]"}, attrs},
       {Op::kAttention, {"bf16[1,2,19,16]", "bf16[1,2,35,16]", "bf16[1,2,35,48]"}, attrs},
       {Op::kAttention, {"bf16[1,2,19,15]", "bf16[1,2,64,15]", "bf16[1,2,64,32]"}, attrs}});
}

TEST(LowerNormalization, AttentionWhoseOperandsAreOne) {
  for (const std::string dtype : {"f32", "bf16"}) {
    const std::string x = dtype + "[1,2,21,32]", y = dtype + "[1,2,24,32]";
    ExpectKernelsMatch(std::vector<std::string>{
        "graph @g(%x: " + x + ", %y: " + y + ") { %a = attention(%x, %y, %y) {scale = 0.25} : " + x +
            " return \"\": %a }",
        "graph @g(%x: " + x + ") { %a = attention(%x, %x, %x) {scale = 0.25} : " + x + " return \"\": %a }"});
  }
}

// Operands lie side by side in one matrix, all or some of them. One result is transposed.
TEST(LowerNormalization, AttentionReadsThroughMovement) {
  ExpectKernelsMatch(std::vector<std::string>{
      R"(graph @g(%qkv: f32[21,96]) {
        %r = reshape(%qkv) {shape = [21, 3, 2, 16]} : f32[21,3,2,16]
        %s0 = slice(%r) {starts = [0, 0, 0, 0], sizes = [21, 1, 2, 16], steps = [1, 1, 1, 1]} : f32[21,1,2,16]
        %s1 = slice(%r) {starts = [0, 1, 0, 0], sizes = [21, 1, 2, 16], steps = [1, 1, 1, 1]} : f32[21,1,2,16]
        %s2 = slice(%r) {starts = [0, 2, 0, 0], sizes = [21, 1, 2, 16], steps = [1, 1, 1, 1]} : f32[21,1,2,16]
        %q = transpose(%s0) {perm = [1, 2, 0, 3]} : f32[1,2,21,16]
        %k = transpose(%s1) {perm = [1, 2, 0, 3]} : f32[1,2,21,16]
        %v = transpose(%s2) {perm = [1, 2, 0, 3]} : f32[1,2,21,16]
        %a = attention(%q, %k, %v) {scale = 0.25} : f32[1,2,21,16]
        %y = transpose(%a) {perm = [2, 0, 1, 3]} : f32[21,1,2,16]
        return "": %y
      })",
      R"(graph @g(%q: f32[1,2,16,16], %x: f32[32,48], %v: f32[1,2,32,16]) {
        %s = slice(%x) {starts = [0, 16], sizes = [32, 32], steps = [1, 1]} : f32[32,32]
        %r = reshape(%s) {shape = [1, 32, 2, 16]} : f32[1,32,2,16]
        %k = transpose(%r) {perm = [0, 2, 1, 3]} : f32[1,2,32,16]
        %y = attention(%q, %k, %v) {scale = 0.25} : f32[1,2,16,16]
        return "": %y
      })"});
}

}  // namespace
}  // namespace attune
