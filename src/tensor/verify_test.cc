#include <gtest/gtest.h>

#include "tensor/stmt.h"

namespace attune {
namespace {

std::string Verdict(const std::string& roots) {
  const auto nest = ParseLoopNest(
      "kernel @k(in a: f32[4] global, out b: f32[4] global, out n: i64[4] global) {" + roots + "}");
  if (!nest.ok()) return std::string(nest.status().message());
  return std::string(VerifyLoopNest(*nest).message());
}

std::string VerdictIn(const std::string& statements) { return Verdict("root {" + statements + "}"); }

TEST(VerifyLoopNest, AcceptsWhatSchedulesMake) {
  for (const char* statements : {
           "for %i in 0, 2 { b[%i] = a[%i] } unroll %i in 2, 2 { b[%i] = a[%i] }",
           "vector %i in 0, 4 { if lt(%i, 3) { unroll %u in 0, 2 { b[%i] = a[%i] } } }",
           "vector %i in 0, 4 { for %one in 0, 1 { b[add(%i, %one)] = a[%i] } }",
           "allocate r: f32[2] register { unroll %u in 0, 2 { let %x: i64 = sub(1, %u) { r[%x] = a[%x] } } }",
           "unroll %u in 0, 2 { unroll %v in %u, 2 { b[%v] = a[%v] } }",
           "for %i in 0, 2 { allocate s: f32[4] scratch { s[0] = a[%i] } }",
       }) {
    EXPECT_EQ(VerdictIn(statements), "") << statements;
  }
}

TEST(VerifyLoopNest, OneMessageForEachRule) {
  const std::pair<const char*, const char*> cases[] = {
      {"for %i in 0, 4 { for %i in 0, 4 { b[%i] = f32 0 } }", "variable i is bound inside of its own scope"},
      {"for %i in 0, 4 { let %i: i64 = 0 { b[%i] = f32 0 } }", "variable i is bound inside of its own scope"},
      {"for %i in 0, 4 {} b[%i] = f32 0", "variable i is used where it is not bound"},
      {"let %x: i64 = 1 {} for %i in %x, 4 {}", "variable x is used where it is not bound"},
      {"allocate s: f32[4] scratch {} s[0] = f32 0", "buffer s is used where it is not declared"},
      {"allocate s: f32[4] scratch {} b[0] = s[0]", "buffer s is used where it is not declared"},
      {"allocate a: f32[4] global {}", "buffer a is declared twice"},
      {"b[0, 0] = f32 0", "buffer b of rank 1 is accessed by 2 indices"},
      {"b[] = f32 0", "buffer b of rank 1 is accessed by 0 indices"},
      {"b[i32 0] = f32 0", "an index of b is i32 where i64 is needed"},
      {"prefetch b[f32 0]", "an index of b is f32 where i64 is needed"},
      {"b[0] = 0", "the value stored to b is i64 where f32 is needed"},
      {"b[0] = add(a[0], n[0])", "add does not take such operands: add(a[0], n[0])"},
      {"b[0] = not(a[0])", "not does not take such operands: not(a[0])"},
      {"n[0] = sqrt(n[0])", "sqrt does not take such operands: sqrt(n[0])"},
      {"b[0] = shl(a[0], a[1])", "shl does not take such operands: shl(a[0], a[1])"},
      {"n[0] = select(n[0], n[1], n[2])", "select does not take such operands: select(n[0], n[1], n[2])"},
      {"b[0] = cast.f32(neg(lt(n[0], 1)))", "neg does not take such operands: neg(lt(n[0], 1))"},
      {"n[0] = bitcast.i64(a[0])", "a bitcast changes the size: bitcast.i64(a[0])"},
      {"if n[0] {}", "the condition of an if is i64 where bool is needed"},
      {"while a[0] {}", "the condition of a while loop is f32 where bool is needed"},
      {"let %x: f32 = 1 {}", "the value of x is i64 where f32 is needed"},
      {"for %i in f32 0, 4 {}", "the start of loop i is f32 where i64 is needed"},
      {"for %i in 0, f32 4 {}", "the extent of loop i is f32 where i64 is needed"},
      {"bind %i in 0, 4 {}", "loop i is bound to no hardware index"},
      {"vector %i in 0, n[0] {}", "loop i is vectorized, but its extent is not constant"},
      {"unroll %i in 0, n[0] {}", "loop i is unrolled, but its bounds are not constant"},
      {"for %j in 0, 4 { unroll %i in %j, 4 {} }", "loop i is unrolled, but its bounds are not constant"},
      {"for %j in 0, 4 { parallel %i in 0, 4 {} }",
       "loop i is parallel, but not the outermost of a root statement"},
      {"n[0] = 0 parallel %i in 0, 4 {}", "loop i is parallel, but not the outermost of a root statement"},
      {"dot %i in 0, 2 { b[%i] = a[%i] }",
       "loop i is a dot product, but not of constant extent around one store in a vectorized loop"},
      {"vector %i in 0, 4 { for %j in 0, 4 {} }", "loop i is vectorized, but loop j is inside of it"},
      {"vector %i in 0, 4 { vector %j in 0, 4 {} }", "loop i is vectorized, but loop j is inside of it"},
      {"vector %i in 0, 4 { while lt(n[0], 4) {} }",
       "loop i is vectorized, but a while loop is inside of it"},
      {"vector %i in 0, 4 { allocate s: f32[4] scratch {} }",
       "loop i is vectorized, but buffer s is inside of it"},
      {"allocate r: f32[4] register { for %i in 0, 4 { r[%i] = f32 0 } }",
       "buffer r lives in registers, but its index %i is not constant once loops are unrolled and "
       "vectorized"},
      {"allocate r: f32[4] register { b[0] = r[n[0]] }",
       "buffer r lives in registers, but its index n[0] is not constant once loops are unrolled and "
       "vectorized"},
  };
  for (const auto& [statements, message] : cases) {
    EXPECT_EQ(VerdictIn(statements), std::string("kernel k: ") + message) << statements;
  }
}

TEST(VerifyLoopNest, RefusesBrokenKernels) {
  const Buffer b = MakeBuffer("b", DType::kF32, {4});
  LoopNest nest;
  nest.name = "k";
  nest.params = {{b, BufferRole::kInput}, {b, BufferRole::kOutput}};
  EXPECT_EQ(VerifyLoopNest(nest).message(), "kernel k: buffer b is declared twice");
  nest.params = {{nullptr, BufferRole::kInput}};
  EXPECT_EQ(VerifyLoopNest(nest).message(), "kernel k: a parameter has no buffer");
  nest.params = {{MakeBuffer("b", DType::kF32, {-1}), BufferRole::kInput}};
  EXPECT_EQ(VerifyLoopNest(nest).message(), "kernel k: buffer b has an impossible size");
  nest.params = {};
  nest.dims_buffer = b;
  EXPECT_EQ(VerifyLoopNest(nest).message(), "kernel k: dims buffer b is not a list of i64");
  nest.dims_buffer = nullptr;
  nest.roots = {nullptr};
  EXPECT_EQ(VerifyLoopNest(nest).message(), "kernel k: a statement is missing");
  nest.params = {{b, BufferRole::kOutput}};
  nest.roots = {MakeStore(b, {Expr()}, FloatConst(0))};
  EXPECT_EQ(VerifyLoopNest(nest).message(), "kernel k: an expression is missing");
}

}  // namespace
}  // namespace attune
