#include "tensor/replace_buffers.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(ReplaceBuffersTest, LoadsOfAnotherTypeAreCast) {
  const absl::StatusOr<LoopNest> nest = ParseLoopNest(R"(
kernel @widen(in a: i16[8] global, out b: i16[8] global) {
  root {
    for %i in 0, 8 {
      b[%i] = add(a[%i], a[sub(7, %i)])
    }
  }
})");
  ASSERT_TRUE(nest.ok()) << nest.status();
  const Buffer& a = nest->params[0].buffer;
  const LoopNest narrow = ReplaceBuffers(*nest, {{a, MakeBuffer("a", DType::kI8, a->shape)}});
  ASSERT_TRUE(VerifyLoopNest(narrow).ok()) << VerifyLoopNest(narrow) << Print(narrow);
  EXPECT_EQ(narrow.params[0].buffer->dtype, DType::kI8);
  EXPECT_EQ(narrow.params[1].buffer, nest->params[1].buffer);
  EXPECT_NE(Print(narrow), Print(*nest));
  const LoopNest back = ReplaceBuffers(narrow, {{narrow.params[0].buffer, a}});
  EXPECT_EQ(back.params[0].buffer, a);
}

}  // namespace
}  // namespace attune
