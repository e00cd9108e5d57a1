#include <gtest/gtest.h>

#include "tensor/stmt.h"

namespace attune {
namespace {

TEST(ParseLoopNest, EverythingPrintsIdentically) {
  const std::string text =
      R"(kernel @all.of_it(in a: f32[4,16] global, out b: f16[64] global, workspace w: i64[] global, dims d: i64[2] global) {
  root {
    parallel %i in 0, 4 {
      allocate r: f32[2,8] register {
        unroll %u in 0, 2 {
          vector %v in 0, 8 {
            r[%u, %v] = a[%i, add(mul(%u, 8), %v)]
          }
        }
        if lt(%i, 3) {
          prefetch a[add(%i, 1), 0]
        } else {
          let %x: f32 = f32 -1.5 {
            b[%i] = cast.f16(select(is_nan(%x), %x, sqrt(%x)))
          }
        }
      }
    }
  }
  root {
    d[1] = 7
    w[] = bitcast.i64(f64 1e-05)
    while lt(w[], 3) {
      w[] = add(w[], 1)
    }
    allocate s: u8[4] scratch {
      s[0] = u8 200
      s[1] = cast.u8(ne(floor_mod(w[], -3), 0))
    }
    bind.block.x %t in 1, w[] {
      allocate t_1: bool[1] shared {
        t_1[0] = and(eq(f32 inf, f32 -inf), not(ge(f64 nan, f64 1e+300)))
      }
    }
  }
  root {
  }
}
)";
  const auto nest = ParseLoopNest(text);
  ASSERT_TRUE(nest.ok()) << nest.status();
  EXPECT_EQ(Print(*nest), text);
  EXPECT_TRUE(VerifyLoopNest(*nest).ok()) << VerifyLoopNest(*nest);
}

TEST(ParseLoopNest, SiblingsShareOneVariable) {
  const auto nest = ParseLoopNest(R"(kernel @k(out b: f32[4] global) { // two loops
    root { for %i in 0, 2 { b[%i] = f32 0 } for %i in 2, 2 { b[%i] = f32 1 } } })");
  ASSERT_TRUE(nest.ok()) << nest.status();
  const auto& loops = nest->roots[0]->children;
  EXPECT_EQ(loops[0]->var, loops[1]->var);
}

TEST(ParseLoopNest, CopiesOfANameGetANumber) {
  const Var i = MakeVar("i"), other = MakeVar("i");
  const Buffer b = MakeBuffer("i", DType::kI64, {4, 4});
  const Stmt store = MakeStore(b, {i, other}, Expr(1));
  LoopNest nest;
  nest.name = "k";
  nest.params = {{b, BufferRole::kOutput}};
  nest.roots = {MakeFor(i, 0, 4, LoopKind::kSerial, MakeFor(other, 0, 4, LoopKind::kSerial, store))};
  const auto again = ParseLoopNest(Print(nest));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Print(*again), Print(nest));
}

TEST(ParseLoopNest, ErrorsNameThePlace) {
  const std::string deep_expression = [] {
    std::string text = "kernel @k(out b: i64[1] global) {\n root {\n  b[0] = ";
    for (int i = 0; i < 1000; ++i) text += "neg(";
    return text;
  }();
  const std::string deep_blocks = [] {
    std::string text = "kernel @k() {\n root {";
    for (int i = 0; i < 1000; ++i) text += "if bool 1 {";
    return text;
  }();
  const auto in_root = [](const std::string& statement) {
    return "kernel @k(out b: f32[4] global) {\n root {\n  " + statement + "\n }\n}\n";
  };
  const std::pair<std::string, const char*> cases[] = {
      {"", "line 1:1: expected 'kernel', at the end"},
      {"kernel @1()", "line 1:9: expected the name of a kernel, at '1'"},
      {"kernel @k(b: f32[4] global)", "line 1:11: expected in, out, workspace or dims, at 'b'"},
      {"kernel @k(in b: f31[4] global)", "line 1:17: expected an element type, at 'f31'"},
      {"kernel @k(in b: f32[four] global)", "line 1:21: expected an integer of 64 bits, at 'four'"},
      {"kernel @k(in b: f32[-4] global)", "line 1:14: buffer b has an impossible size"},
      {"kernel @k(in b: f32[1048576,1048576] global)", "line 1:14: buffer b has an impossible size"},
      {"kernel @k(in b: f32[4] heap)", "line 1:24: expected a memory space, at 'heap'"},
      {"kernel @k(in b: f32[4] global, out b: f32[5] global)",
       "line 1:36: buffer b is declared differently above"},
      {"kernel @k(dims d: i64[1] global, in b: f32[4] global)", "line 1:34: expected ')', at 'in'"},
      {"kernel @k() { block", "line 1:15: expected 'root', at 'block'"},
      {"kernel @k() {} x", "line 1:16: expected the end, at 'x'"},
      {in_root("loop %i in 0, 4 {}"), "line 3:3: expected a statement, at 'loop'"},
      {in_root("for %i from 0, 4 {}"), "line 3:10: expected 'in', at 'from'"},
      {in_root("c[0] = f32 0"), "line 3:3: no buffer c"},
      {in_root("b[%i] = f32 0"), "line 3:5: no variable %i"},
      {in_root("b[0] = add(b[1])"), "line 3:10: wrong number of operands"},
      {in_root("b[0] = plus(b[1], b[2])"), "line 3:10: no such operation"},
      {in_root("b[0] = cast.f31(b[1])"), "line 3:10: no such operation"},
      {in_root("b[0] = f32 much"), "line 3:14: expected a number, at 'much'"},
      {in_root("b[99999999999999999999] = f32 0"),
       "line 3:5: expected an integer of 64 bits, at '99999999999999999999'"},
      {in_root("let %x: f32 = f32 0 {} for %x in 0, 1 {}"), "line 3:31: %x has another type above"},
      {in_root("b[0] = \x01"), "line 3:10: expected an integer of 64 bits, at '\\x01'"},
      {deep_expression, "line 3:1606: nested deeper than 400, at 'neg'"},
      {deep_blocks, "line 2:4400: nested deeper than 400, at 'bool'"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(std::string(ParseLoopNest(text).status().message()), message) << text.substr(0, 100);
  }
}

}  // namespace
}  // namespace attune
