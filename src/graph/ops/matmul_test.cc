#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

TEST(InferMatMul, MatMul) {
  CheckCase({"matmul", {"f32[2,3]", "f32[3,4]"}, {}, "f32[2,4]"});
  CheckCase(
      {"matmul", {"f32[5,1,3,2]", "f32[6,4,3]"}, {{"transpose_a", 1}, {"transpose_b", 1}}, "f32[5,6,2,4]"});
  CheckCase({"matmul", {"i64[n<=9,3]", "i64[3,0]"}, {}, "i64[n<=9,0]"});
  CheckCase({"matmul", {"f32[n<=9,2,3]", "f32[n<=9,3,2]"}, {}, "f32[n<=9,2,2]"});
  CheckCase({"matmul",
             {"f32[2,3]", "f32[4,3]"},
             {},
             "invalid: the first input f32[2,3] has 3 columns, the second f32[4,3] has 4 rows"});
  CheckCase({"matmul",
             {"f32[2,3]", "f32[3,4]"},
             {{"transpose_b", 1}},
             "invalid: the second f32[3,4] transposed has 4 rows"});
  CheckCase({"matmul",
             {"f32[3]", "f32[3,4]"},
             {},
             "invalid: the first input is f32[3], must have at least 2 dimensions"});
  CheckCase({"matmul", {"f32[2,2,3]", "f32[3,3,4]"}, {}, "invalid: cannot broadcast [2] and [3]"});
  CheckCase({"matmul", {"f32[2,3]", "f16[3,4]"}, {}, "invalid: the second input is f16[3,4]"});
  CheckCase({"matmul", {"bf16[2,3]", "bf16[3,4]"}, {{"to", DType::kF32}}, "f32[2,4]"});
  CheckCase({"matmul",
             {"bf16[2,3]", "bf16[3,4]"},
             {{"to", DType::kF16}},
             "invalid: to is f16, which no sum of products of bf16 is in"});
  CheckCase({"matmul", {"bool[2,3]", "bool[3,4]"}, {}, "invalid: the first input is bool[2,3]"});
  CheckCase({"matmul",
             {"f32[2,n<=3]", "f32[n<=3,4]"},
             {},
             "not supported: cannot contract the dynamic dimension of f32[2,n<=3] and f32[n<=3,4]"});
}

TEST(InferMatMul, MatMulInteger) {
  CheckCase({"matmul_integer", {"u8[2,3]", "i8[3,4]", "u8[2]", "i8[4]"}, {}, "i32[2,4]"});
  CheckCase({"matmul_integer", {"u8[5,3,2]", "u8[3,4]", "_", "u8[]"}, {{"transpose_a", 1}}, "i32[5,2,4]"});
  CheckCase({"matmul_integer", {"i16[2,3]", "i16[3,4]"}, {}, "i32[2,4]"});
  CheckCase({"matmul_integer",
             {"i32[2,3]", "i8[3,4]"},
             {},
             "invalid: the first input is i32[2,3], must be u8 or i8 or i16"});
  CheckCase({"matmul_integer",
             {"u8[2,3]", "i8[3,4]", "u8[4]"},
             {},
             "invalid: the first zero point is u8[4], must have the shape [2]"});
  CheckCase({"matmul_integer",
             {"u8[2,3]", "i8[3,4]", "u8[]", "u8[]"},
             {},
             "invalid: the second zero point is u8[], must have the dtype of its input, i8[3,4]"});
  CheckCase({"matmul_integer", {"u8[2,3]", "i8[2,4]"}, {}, "invalid: has 3 columns"});
}

TEST(InferMatMul, Attention) {
  const Attributes attrs = {{"scale", 0.125}};
  CheckCase({"attention", {"f32[1,12,7,64]", "f32[1,12,9,64]", "f32[1,12,9,32]"}, attrs, "f32[1,12,7,32]"});
  CheckCase({"attention",
             {"f16[b<=2,3,7,8]", "f16[b<=2,3,7,8]", "f16[b<=2,3,7,8]", "f16[7,7]"},
             attrs,
             "f16[b<=2,3,7,8]"});
  CheckCase({"attention",
             {"f32[1,12,7,64]", "f32[1,12,9,32]", "f32[1,12,9,32]"},
             attrs,
             "invalid: the key is f32[1,12,9,32], must have the shape [1,12,9,64]"});
  CheckCase({"attention",
             {"f32[1,2,7,4]", "f32[1,2,9,4]", "f32[1,2,8,4]"},
             attrs,
             "invalid: the value is f32[1,2,8,4], must have the shape [1,2,9,4]"});
  CheckCase({"attention",
             {"f32[1,2,7,4]", "f32[1,2,9,4]", "f32[1,2,9,4]", "f32[2,1,7,9]"},
             attrs,
             "invalid: the mask f32[2,1,7,9] does not broadcast to the scores [1,2,7,9]"});
  CheckCase({"attention",
             {"f32[2,7,4]", "f32[2,9,4]", "f32[2,9,4]"},
             attrs,
             "invalid: the query is f32[2,7,4], must have 4 dimensions"});
  CheckCase({"attention",
             {"f32[1,2,7,4]", "f32[1,2,s<=9,4]", "f32[1,2,s<=9,4]"},
             attrs,
             "not supported: cannot attend over the dynamic dimension 2"});
}

TEST(InferMatMul, Det) {
  CheckCase({"det", {"f32[3,3]"}, {}, "f32[]"});
  CheckCase({"det", {"f64[n<=5,2,0,0]"}, {}, "f64[n<=5,2]"});
  CheckCase({"det", {"f32[3,4]"}, {}, "invalid: the matrices of f32[3,4] are not square"});
  CheckCase({"det", {"f32[3]"}, {}, "invalid: the input is f32[3], must have at least 2 dimensions"});
  CheckCase({"det", {"i32[3,3]"}, {}, "invalid: the input is i32[3,3], must be of floats"});
}

}  // namespace
}  // namespace attune::infer
