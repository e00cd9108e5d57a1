#include <gtest/gtest.h>

#include "lower/kernel_under_test.h"

namespace attune {
namespace {

OperatorCase Pool(Op op, const char* input, Ints kernel, Ints strides, Ints pads, int64_t ceil_mode = 0) {
  return {op,
          {input},
          {{"kernel", std::move(kernel)},
           {"strides", std::move(strides)},
           {"pads", std::move(pads)},
           {"ceil_mode", ceil_mode}}};
}

TEST(LowerWindow, Pools) {
  for (Op op : {Op::kMaxPool, Op::kAvgPool}) {
    ExpectKernelsMatch(InEachLayout({Pool(op, "f32[2,20,9,11]", {3, 3}, {2, 2}, {1, 1, 1, 1}),
                                     Pool(op, "f32[1,3,7,7]", {7, 7}, {1, 1}, {0, 0, 0, 0}),
                                     Pool(op, "f32[1,16,6,40]", {2, 3}, {1, 1}, {0, 1, 1, 1}),
                                     Pool(op, "f32[1,5,6,6]", {3, 3}, {2, 2}, {0, 0, 0, 0}, 1)}));
    ExpectKernelsMatch({Pool(op, "f32[1,3,20]", {3}, {2}, {1, 0}),
                        Pool(op, "f32[1,2,4,5,6]", {2, 2, 3}, {1, 2, 1}, {0, 0, 1, 1, 0, 1})});
  }
  OperatorCase include = Pool(Op::kAvgPool, "f32[1,5,6,6]", {3, 3}, {2, 2}, {1, 1, 1, 1}, 1);
  include.attrs.Set("count_include_pad", int64_t{1});
  ExpectKernelsMatch(InEachLayout({include}));
  OperatorCase dilated = Pool(Op::kMaxPool, "i8[1,4,9,9]", {3, 3}, {1, 1}, {1, 1, 1, 1});
  dilated.attrs.Set("dilations", Ints{2, 2});
  ExpectKernelsMatch({dilated});
}

TEST(LowerWindow, PoolsOfWhatIsComputedOnTheWay) {
  for (const std::string layout : {"", "{c1/8}", "{c1/16}"}) {
    ExpectKernelsMatch(std::vector<std::string>{"graph @g(%x: f32[1,20,9,6]" + layout +
                                                ", %s: f32[1,20,1,1]) { %m = mul(%x, %s) : f32[1,20,9,6]" +
                                                layout + " %r = relu(%m) : f32[1,20,9,6]" + layout +
                                                " %p = avg_pool(%r) {kernel = [2, 2], strides = [2, 2]} "
                                                ": f32[1,20,4,3]" +
                                                layout + " return \"\": %p }"});
  }
}

TEST(LowerWindow, PositionsOfMaxima) {
  OperatorCase pool = Pool(Op::kMaxPool, "f32[2,3,6,7]", {2, 2}, {2, 2}, {0, 0, 1, 1});
  pool.num_outputs = 2;
  ExpectKernelsMatch(InEachDType({pool}, "f32", {"f32", "f16", "u8"}));
}

TEST(LowerWindow, NormalizationAcrossChannelsAndCol2Im) {
  ExpectKernelsMatch(
      InEachLayout({{Op::kLrn,
                     {"f32[1,21,3,4]"},
                     {{"size", int64_t{5}}, {"alpha", 1e-2}, {"beta", 0.75}, {"bias", 2.0}}}}));
  ExpectKernelsMatch({{Op::kCol2Im,
                       {"f32[1,18,20]"},
                       {{"image", Ints{5, 6}}, {"block", Ints{3, 3}}, {"pads", Ints{0, 1, 1, 0}}}}});
}

}  // namespace
}  // namespace attune
