#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

TEST(InferNormalization, BatchNorm) {
  const Attributes attrs = {{"epsilon", 1e-5}};
  CheckCase(
      {"batch_norm", {"f32[n<=1,8,4]", "f32[8]", "f32[8]", "f32[8]", "f32[8]"}, attrs, "f32[n<=1,8,4]"});
  CheckCase({"batch_norm", {"f16[2,8]", "f16[8]", "f16[8]", "f16[8]", "f16[8]"}, attrs, "f16[2,8]"});
  CheckCase({"batch_norm",
             {"f32[1,8,4]", "f32[8]", "f32[8]", "f32[4]", "f32[8]"},
             attrs,
             "invalid: the mean is f32[4], must have the shape [8]"});
  CheckCase({"batch_norm",
             {"f16[1,8]", "f16[8]", "f16[8]", "f16[8]", "f32[8]"},
             attrs,
             "invalid: the variance is f32[8], must have the dtype of the input"});
  CheckCase({"batch_norm",
             {"f32[8]", "f32[8]", "f32[8]", "f32[8]", "f32[8]"},
             attrs,
             "invalid: the input is f32[8], must have at least 2 dimensions"});
  CheckCase({"batch_norm",
             {"f32[1,8]", "f32[8]", "f32[8]", "f32[8]", "f32[8]"},
             {{"epsilon", -1.0}},
             "invalid: epsilon is -1"});
}

TEST(InferNormalization, LayerNormAndRmsNorm) {
  const Attributes attrs = {{"axis", 1}, {"epsilon", 1e-5}};
  for (const char* op : {"layer_norm", "rms_norm"}) {
    CheckCase({op, {"f32[n<=2,3,4]"}, attrs, "f32[n<=2,3,4]"});
    CheckCase({op, {"f16[2,3,4]", "f16[3,4]"}, attrs, "f16[2,3,4]"});
    CheckCase(
        {op, {"f32[2,3,4]", "f32[4]"}, attrs, "invalid: the scale is f32[4], must have the shape [3,4]"});
    CheckCase({op, {"f32[2]"}, attrs, "invalid: axis 1 is not an axis"});
    CheckCase({op, {"i32[2,3]"}, attrs, "invalid: the input is i32[2,3], must be of floats"});
    CheckCase({op, {"f32[2,n<=3]"}, attrs, "not supported: cannot normalize over the dynamic dimension 1"});
  }
  CheckCase({"layer_norm", {"f32[2,3]", "_", "f32[3]"}, attrs, "f32[2,3]"});
  CheckCase({"layer_norm", {"f32[2,3]", "_", "f64[3]"}, attrs, "invalid: the bias is f64[3]"});
}

Attributes GroupNormAttributes(int64_t groups) { return {{"groups", groups}, {"epsilon", 1e-5}}; }

TEST(InferNormalization, GroupNorm) {
  CheckCase({"group_norm", {"f32[n<=1,8,4]", "f32[8]", "f32[8]"}, GroupNormAttributes(4), "f32[n<=1,8,4]"});
  CheckCase({"group_norm", {"f32[1,8]", "f32[8]", "f32[8]"}, GroupNormAttributes(8), "f32[1,8]"});
  CheckCase({"group_norm",
             {"f32[1,8,4]", "f32[8]", "f32[8]"},
             GroupNormAttributes(3),
             "invalid: the 8 channels of f32[1,8,4] do not divide into 3 groups"});
  CheckCase({"group_norm",
             {"f32[1,8,4]", "f32[4]", "f32[8]"},
             GroupNormAttributes(4),
             "invalid: the scale is f32[4], must have the shape [8]"});
  CheckCase(
      {"group_norm", {"f32[1,8,4]", "f32[8]", "f32[8]"}, GroupNormAttributes(0), "invalid: groups is 0"});
}

TEST(InferNormalization, Softmax) {
  for (const char* op : {"softmax", "log_softmax"}) {
    CheckCase({op, {"f32[n<=2,3]"}, {{"axis", 1}}, "f32[n<=2,3]"});
    CheckCase({op, {"bf16[2,0]"}, {{"axis", 1}}, "bf16[2,0]"});
    CheckCase(
        {op, {"f32[2,3]"}, {{"axis", -1}}, "invalid: axis -1 is not an axis of a tensor of 2 dimensions"});
    CheckCase({op, {"i32[2,3]"}, {{"axis", 1}}, "invalid: the input is i32[2,3], must be of floats"});
    CheckCase(
        {op, {"f32[n<=2,3]"}, {{"axis", 0}}, "not supported: cannot normalize over the dynamic dimension 0"});
  }
}

}  // namespace
}  // namespace attune::infer
