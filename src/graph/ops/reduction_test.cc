#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

TEST(InferReduction, EveryReduction) {
  for (const char* op : {"reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min"}) {
    CheckCase({op, {"f32[2,3,4]"}, {{"axes", Ints{0, 2}}}, "f32[1,3,1]"});
    CheckCase({op, {"i64[2,n<=3,4]"}, {{"axes", Ints{0, 2}}, {"keepdims", 0}}, "i64[n<=3]"});
    CheckCase({op, {"f16[2,0]"}, {{"axes", Ints{}}, {"keepdims", 0}}, "f16[2,0]"});
    CheckCase({op,
               {"f32[2,3]"},
               {{"axes", Ints{2}}},
               "invalid: axes has the value 2, which is not an axis of f32[2,3]"});
    CheckCase({op, {"f32[2,3]"}, {{"axes", Ints{-1}}}, "invalid: axes has the value -1"});
    CheckCase({op, {"f32[2,3]"}, {{"axes", Ints{1, 0}}}, "invalid: axes must be ascending, has 0 after 1"});
    CheckCase({op, {"f32[2,3]"}, {{"axes", Ints{1}}, {"keepdims", 2}}, "invalid: keepdims is 2"});
    CheckCase({op,
               {"f32[2,n<=3]"},
               {{"axes", Ints{1}}},
               "not supported: cannot reduce over the dynamic dimension 1"});
  }
  CheckCase({"reduce_max", {"bool[2]"}, {{"axes", Ints{0}}}, "bool[1]"});
  CheckCase({"reduce_min", {"bool[2]"}, {{"axes", Ints{0}}}, "bool[1]"});
  CheckCase({"reduce_sum", {"bool[2]"}, {{"axes", Ints{0}}}, "invalid: the input is bool[2]"});
}

TEST(InferReduction, ArgMaxAndArgMin) {
  for (const char* op : {"arg_max", "arg_min"}) {
    CheckCase({op, {"f32[2,n<=3]"}, {{"axis", 0}}, "i64[1,n<=3]"});
    CheckCase({op, {"u8[2,3]"}, {{"axis", 1}, {"keepdims", 0}, {"select_last", 1}}, "i64[2]"});
    CheckCase({op, {"f32[2,0]"}, {{"axis", 1}}, "invalid: nothing to choose from along axis 1 of f32[2,0]"});
    CheckCase({op, {"f32[2]"}, {{"axis", 1}}, "invalid: axis 1 is not an axis"});
    CheckCase({op, {"bool[2]"}, {{"axis", 0}}, "invalid: the input is bool[2]"});
    CheckCase(
        {op, {"f32[n<=2]"}, {{"axis", 0}}, "not supported: cannot reduce over the dynamic dimension 0"});
  }
}

TEST(InferReduction, Scans) {
  for (const char* op : {"cum_sum", "cum_prod"}) {
    CheckCase({op, {"f32[2,n<=3]"}, {{"axis", 0}}, "f32[2,n<=3]"});
    CheckCase({op, {"i32[0]"}, {{"axis", 0}, {"exclusive", 1}, {"reverse", 1}}, "i32[0]"});
    CheckCase({op, {"bool[2]"}, {{"axis", 0}}, "invalid: the input is bool[2]"});
    CheckCase({op, {"f32[]"}, {{"axis", 0}}, "invalid: axis 0 is not an axis"});
    CheckCase(
        {op, {"f32[n<=2]"}, {{"axis", 0}}, "not supported: cannot accumulate along the dynamic dimension 0"});
  }
}

TEST(InferReduction, TopK) {
  CheckCase({"top_k", {"f32[2,9]"}, {{"axis", 1}, {"k", 5}}, "f32[2,5] i64[2,5]"});
  CheckCase({"top_k", {"i8[9,n<=4]"}, {{"axis", 0}, {"k", 0}, {"largest", 0}}, "i8[0,n<=4] i64[0,n<=4]"});
  CheckCase({"top_k", {"f32[2,9]"}, {{"axis", 1}, {"k", 10}}, "invalid: k is 10, axis 1 of f32[2,9] has 9"});
  CheckCase({"top_k", {"f32[2,9]"}, {{"axis", 1}, {"k", -1}}, "invalid: k is -1"});
  CheckCase({"top_k",
             {"f32[n<=9]"},
             {{"axis", 0}, {"k", 5}},
             "not supported: cannot sort along the dynamic dimension 0"});
}

}  // namespace
}  // namespace attune::infer
