#include "tensor/registers.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace attune {
namespace {

// Expects that the buffer r, which asks for registers in the nest, ends up in `space`, and that the nest
// verifies.
void ExpectSpace(const std::string& statements, const std::string& space) {
  const std::string text =
      absl::StrCat("kernel @k(in n: i64[4] global, out b: f32[4] global) {\n root { ", statements, " }\n}\n");
  const auto nest = ParseLoopNest(text);
  const auto expected = ParseLoopNest(absl::StrReplaceAll(text, {{"] register", absl::StrCat("] ", space)}}));
  ASSERT_TRUE(nest.ok()) << nest.status() << text;
  ASSERT_TRUE(expected.ok()) << expected.status();
  const LoopNest result = WithIndexedBuffersInMemory(*nest);
  EXPECT_EQ(Print(result), Print(*expected));
  EXPECT_TRUE(VerifyLoopNest(result).ok()) << VerifyLoopNest(result);
}

TEST(Registers, ConstantIndicesAfterUnrolling) {
  ExpectSpace("allocate r: f32[4] register { r[2] = f32 1 b[0] = r[2] }", "register");
  ExpectSpace(
      "allocate r: f32[4] register { unroll %i in 0, 4 { r[%i] = f32 1 } vector %j in 0, 4 { b[%j] = r[%j] } "
      "}",
      "register");
  ExpectSpace("allocate r: f32[4] register { for %i in 2, 1 { r[%i] = f32 1 } }", "register");
}

TEST(Registers, OtherIndicesNeedMemory) {
  ExpectSpace("allocate r: f32[4] register { for %i in 0, 4 { r[%i] = f32 1 } b[0] = r[1] }", "scratch");
  ExpectSpace("allocate r: f32[4] register { r[0] = f32 1 b[0] = r[n[0]] }", "scratch");
  ExpectSpace("for %j in 0, 3 { allocate r: f32[4] register { for %i in %j, 1 { r[%i] = f32 1 } } }",
              "scratch");
  ExpectSpace("allocate r: f32[4] register { if lt(cast.i64(r[n[1]]), 2) { b[0] = f32 1 } }", "scratch");
}

}  // namespace
}  // namespace attune
