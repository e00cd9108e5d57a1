#include "graph/infer.h"
#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

std::vector<OpInfo> OpsOf(OpCategory category) {
  std::vector<OpInfo> ops;
  for (const OpInfo& info : AllOps()) {
    if (info.category == category) ops.push_back(info);
  }
  return ops;
}

// Values for the required attributes of the elementwise operators.
Attributes RequiredAttributes(const OpInfo& info) {
  Attributes attrs;
  for (const AttributeInfo& attribute : info.attributes) {
    if (!attribute.required) continue;
    if (attribute.kind == AttributeKind::kDType) {
      attrs.Set(std::string(attribute.name), DType::kF32);
    } else {
      attrs.Set(std::string(attribute.name), 0.5);
    }
  }
  return attrs;
}

TEST(InferElementwise, EveryUnaryOperatorKeepsShapeAndLayout) {
  for (const OpInfo& info : OpsOf(OpCategory::kUnary)) {
    const std::string op(info.name);
    const Attributes attrs = RequiredAttributes(info);
    const std::string x = op == "not" ? "bool" : "f32";
    const std::string y = op == "not" || op == "is_nan" || op == "is_inf" ? "bool" : "f32";
    CheckCase({op, {x + "[]"}, attrs, y + "[]"});
    CheckCase({op, {x + "[2,0,n<=7]"}, attrs, y + "[2,0,n<=7]"});
    CheckCase({op, {x + "[1,20,4,4]{c1/16}"}, attrs, y + "[1,20,4,4]{c1/16}"});
  }
}

TEST(InferElementwise, UnaryOperatorsTakeTheTablesDTypes) {
  const std::vector<std::string> and_integers = {"neg", "abs", "sign", "clip", "not", "cast"};
  for (const OpInfo& info : OpsOf(OpCategory::kUnary)) {
    const std::string op(info.name);
    const Attributes attrs = RequiredAttributes(info);
    const bool integers = std::ranges::count(and_integers, op) > 0;
    const std::string result = op == "cast" ? "f32" : "u8";
    CheckCase({op, {"u8[3]"}, attrs, integers ? result + "[3]" : "invalid: the input is u8[3], must be of "});
    const bool bools = op == "not" || op == "cast";
    CheckCase({op,
               {"bool[3]"},
               attrs,
               bools ? (op == "cast" ? "f32[3]" : "bool[3]") : "invalid: the input is bool[3]"});
    if (op != "not") continue;
    CheckCase({op, {"f32[3]"}, attrs, "invalid: the input is f32[3], must be of bools or integers"});
  }
  CheckCase({"relu", {"i8[3]"}, {}, "i8[3]"});
  CheckCase({"cast", {"bf16[2]"}, {{"to", DType::kBool}}, "bool[2]"});
  CheckCase({"gelu", {"f16[2]"}, {{"approximate", "tanh"}}, "f16[2]"});
  CheckCase(
      {"gelu", {"f16[2]"}, {{"approximate", "erf"}}, "invalid: approximate is 'erf', must be none, tanh"});
}

TEST(InferElementwise, EveryBinaryOperatorBroadcasts) {
  for (const OpInfo& info : OpsOf(OpCategory::kBinary)) {
    const std::string op(info.name);
    const bool comparison = op == "equal" || op.starts_with("less") || op.starts_with("greater");
    const std::string x = op == "mul_high" ? "i32" : "u32", y = comparison ? "bool" : x;
    CheckCase({op, {x + "[2,1,4]", x + "[3,1]"}, {}, y + "[2,3,4]"});
    CheckCase({op, {x + "[]", x + "[n<=9,0]"}, {}, y + "[n<=9,0]"});
    CheckCase({op, {x + "[2,3]", x + "[2]"}, {}, "invalid: cannot broadcast [2,3] and [2]"});
    CheckCase(
        {op, {x + "[4]", x + "[n<=4]"}, {}, "not supported: whether [4] and [n<=4] fit depends on data"});
    if (op == "pow") continue;
    CheckCase({op,
               {x + "[2]", "u64[2]"},
               {},
               "invalid: the second input is u64[2], must have the dtype of the first, " + x + "[2]"});
  }
}

TEST(InferElementwise, BinaryOperatorsTakeTheTablesDTypes) {
  for (const OpInfo& info : OpsOf(OpCategory::kBinary)) {
    const std::string op(info.name);
    if (op == "mul_high") continue;
    const bool logical = op == "and" || op == "or" || op == "xor";
    const bool shift = op.starts_with("shift");
    const bool comparison = op == "equal" || op.starts_with("less") || op.starts_with("greater");
    CheckCase({op,
               {"f32[2]", "f32[2]"},
               {},
               logical || shift ? "invalid: is f32[2], must be of "
               : comparison     ? "bool[2]"
                                : "f32[2]"});
    CheckCase({op,
               {"i32[2]", "i32[2]"},
               {},
               op == "shift_left" ? "invalid: is i32[2], must be of unsigned integers"
               : comparison       ? "bool[2]"
                                  : "i32[2]"});
    CheckCase({op,
               {"bool[2]", "bool[2]"},
               {},
               logical || op == "equal" ? "bool[2]" : "invalid: is bool[2], must be of "});
  }
  CheckCase({"shift_right", {"i16[2]", "i16[2]"}, {}, "invalid: is i16[2], must be of unsigned integers"});
  CheckCase({"shift_right", {"i64[2]", "i64[2]"}, {}, "i64[2]"});
  CheckCase({"mul_high", {"i64[2]", "i64[2]"}, {}, "invalid: the first input is i64[2], must be i32"});
  CheckCase({"pow", {"f32[2]", "i64[]"}, {}, "f32[2]"});
  CheckCase({"pow", {"f32[2]", "bool[]"}, {}, "invalid: the exponent is bool[]"});
}

TEST(InferElementwise, Where) {
  CheckCase({"where", {"bool[2,1]", "i8[3]", "i8[]"}, {}, "i8[2,3]"});
  CheckCase({"where", {"bool[n<=5,1]", "bool[n<=5,3]", "bool[1,3]"}, {}, "bool[n<=5,3]"});
  CheckCase({"where", {"i8[2]", "i8[2]", "i8[2]"}, {}, "invalid: the condition is i8[2], must be bool"});
  CheckCase({"where", {"bool[2]", "i8[2]", "u8[2]"}, {}, "invalid: the third input is u8[2]"});
  CheckCase({"where", {"bool[2]", "i8[3]", "i8[3]"}, {}, "invalid: cannot broadcast [2] and [3]"});
}

TEST(InferElementwise, BlockedInputsGiveABlockedOutput) {
  CheckCase({"add", {"f32[1,20,4,4]{c1/16}", "f32[1,20,4,4]{c1/16}"}, {}, "f32[1,20,4,4]{c1/16}"});
  CheckCase({"add", {"f32[1,20,4,4]{c1/16}", "f32[1,20,1,1]{c1/16}"}, {}, "f32[1,20,4,4]{c1/16}"});
  CheckCase({"mul", {"f32[]", "f32[1,20,4,4]{c1/16}"}, {}, "f32[1,20,4,4]{c1/16}"});
  CheckCase({"mul", {"f32[1,20,4,4]{c1/16}", "f32[20,1,1]"}, {}, "f32[1,20,4,4]{c1/16}"});
  CheckCase({"mul", {"f32[20,4,4]{c0/16}", "f32[2,1,4,4]"}, {}, "f32[2,20,4,4]{c1/16}"});
  CheckCase({"add", {"f32[1,20,4,4]{c1/16}", "f32[1,20,4,4]{c1/8}"}, {}, "invalid: are blocked differently"});
  CheckCase({"add", {"f32[1,20,4,4]{c1/16}", "f32[1,20,4,4]"}, {}, "f32[1,20,4,4]{c1/16}"});
  CheckCase({"add", {"f32[1,1,4,4]{c1/16}", "f32[1,20,4,4]{c1/8}"}, {}, "f32[1,20,4,4]{c1/8}"});
  CheckCase({"add", {"f32[1,1,4,4]{c1/16}", "f32[1,20,1,1]"}, {}, "f32[1,20,4,4]"});
}

TEST(InferElementwise, Data) {
  CheckCase({"identity", {"bool[2,n<=3]"}, {}, "bool[2,n<=3]"});
  CheckCase({"identity", {"f32[1,20,4,4]{c1/16}"}, {}, "f32[1,20,4,4]{c1/16}"});
  CheckCase({"constant", {}, {{"value", Tensor(DType::kI16, {2, 0})}}, "i16[2,0]"});
  CheckCase({"constant", {}, {{"value", Tensor::Scalar(DType::kBool, 1)}}, "bool[]"});
  CheckCase({"constant", {}, {}, "invalid: attribute 'value' is missing"});
}

}  // namespace
}  // namespace attune::infer
