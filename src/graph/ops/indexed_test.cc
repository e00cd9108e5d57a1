#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

TEST(InferIndexed, Gather) {
  CheckCase({"gather", {"f32[5,6,7]", "i64[2,3]"}, {{"axis", 1}}, "f32[5,2,3,7]"});
  CheckCase({"gather", {"bool[5]", "i32[]"}, {{"axis", 0}}, "bool[]"});
  CheckCase({"gather", {"f32[m<=5,6]", "i64[n<=9]"}, {{"axis", 1}}, "f32[m<=5,n<=9]"});
  CheckCase({"gather",
             {"f32[5,6]", "f32[2]"},
             {{"axis", 0}},
             "invalid: the indices tensor is f32[2], must be i32 or i64"});
  CheckCase({"gather", {"f32[5,6]", "i64[2]"}, {{"axis", 2}}, "invalid: axis 2 is not an axis"});
  CheckCase({"gather", {"f32[]", "i64[2]"}, {{"axis", 0}}, "invalid: axis 0 is not an axis"});
  CheckCase({"gather",
             {"f32[n<=5]", "i64[2]"},
             {{"axis", 0}},
             "not supported: cannot gather along the dynamic dimension 0"});
}

TEST(InferIndexed, GatherElements) {
  CheckCase({"gather_elements", {"f32[5,6]", "i64[5,9]"}, {{"axis", 1}}, "f32[5,9]"});
  CheckCase({"gather_elements", {"f32[n<=5,6]", "i32[n<=5,2]"}, {{"axis", 1}}, "f32[n<=5,2]"});
  CheckCase({"gather_elements", {"f32[5,6]", "i32[n<=5,2]"}, {{"axis", 1}}, "f32[n<=5,2]"});
  CheckCase({"gather_elements",
             {"f32[5,6]", "i64[6,9]"},
             {{"axis", 1}},
             "invalid: the indices i64[6,9] reach beyond f32[5,6] along axis 0"});
  CheckCase({"gather_elements",
             {"f32[5,6]", "i64[5]"},
             {{"axis", 1}},
             "invalid: the indices tensor is i64[5], must have 2 dimensions"});
  CheckCase(
      {"gather_elements", {"f32[n<=5,6]", "i64[5,6]"}, {{"axis", 1}}, "not supported: dynamic dimension 0"});
}

TEST(InferIndexed, GatherNd) {
  CheckCase({"gather_nd", {"f32[5,6,7]", "i64[3,2]"}, {}, "f32[3,7]"});
  CheckCase({"gather_nd", {"f32[5,6,7]", "i64[5,4,1]"}, {{"batch_dims", 1}}, "f32[5,4,7]"});
  CheckCase({"gather_nd", {"f32[5,6]", "i64[n<=3,2]"}, {}, "f32[n<=3]"});
  CheckCase({"gather_nd",
             {"f32[5,6]", "i64[3,3]"},
             {},
             "invalid: the indices i64[3,3] hold positions of 3 axes, f32[5,6] has 2"});
  CheckCase({"gather_nd",
             {"f32[5,6]", "i64[4,1]"},
             {{"batch_dims", 1}},
             "invalid: the batch dimensions of the input f32[5,6] and of the indices i64[4,1] differ"});
  CheckCase({"gather_nd", {"f32[5]", "i64[5]"}, {{"batch_dims", 2}}, "invalid: batch_dims is 2"});
  CheckCase({"gather_nd", {"f32[5]", "i64[]"}, {}, "invalid: must have at least 1 dimensions"});
  CheckCase(
      {"gather_nd", {"f32[n<=5]", "i64[2,1]"}, {}, "not supported: cannot index the dynamic dimension 0"});
}

TEST(InferIndexed, ScatterElements) {
  CheckCase({"scatter_elements", {"f32[5,6]", "i64[2,3]", "f32[2,3]"}, {{"axis", 1}}, "f32[5,6]"});
  CheckCase({"scatter_elements", {"bool[5]", "i32[9]", "bool[9]"}, {{"axis", 0}}, "bool[5]"});
  CheckCase({"scatter_elements",
             {"f32[5,6]", "i64[2,3]", "f32[3,2]"},
             {{"axis", 1}},
             "invalid: the updates tensor is f32[3,2], must have the shape [2,3]"});
  CheckCase({"scatter_elements",
             {"f32[5]", "i64[2]", "f16[2]"},
             {{"axis", 0}},
             "invalid: the updates tensor is f16[2], must have the dtype"});
  CheckCase({"scatter_elements",
             {"bool[5]", "i64[2]", "bool[2]"},
             {{"axis", 0}, {"reduction", "add"}},
             "invalid: the input is bool[5]"});
  CheckCase({"scatter_elements",
             {"f32[5]", "i64[2]", "f32[2]"},
             {{"axis", 0}, {"reduction", "sub"}},
             "invalid: reduction is 'sub'"});
}

TEST(InferIndexed, ScatterNd) {
  CheckCase({"scatter_nd", {"f32[5,6]", "i64[3,1]", "f32[3,6]"}, {}, "f32[5,6]"});
  CheckCase({"scatter_nd", {"f32[5,6]", "i64[n<=3,2]", "f32[n<=3]"}, {{"reduction", "max"}}, "f32[5,6]"});
  CheckCase({"scatter_nd",
             {"f32[5,6]", "i64[3,1]", "f32[3,5]"},
             {},
             "invalid: the updates tensor is f32[3,5], must have the shape [3,6]"});
  CheckCase({"scatter_nd", {"f32[5]", "u32[3,1]", "f32[3]"}, {}, "invalid: the indices tensor is u32[3,1]"});
  CheckCase({"scatter_nd", {"f32[5]", "i64[3,0]", "f32[3,5]"}, {}, "invalid: positions of 0 axes"});
}

TEST(InferIndexed, CheckIndex) {
  const auto check = [](const char* indices, Ints sizes, const char* result) {
    CheckCase(
        {"check_index", {indices}, {{"sizes", std::move(sizes)}, {"reader", std::string("gather")}}, result});
  };
  check("i64[2,n<=3]", {7}, "i64[2,n<=3]");
  check("i32[]", {0}, "i32[]");
  check("i32[5,2]", {7, 8}, "i32[5,2]");
  check("i32[5,3]", {7, 8}, "invalid: the indices i32[5,3] hold positions of 3 axes, not 2");
  check("i32[5,n<=2]", {7, 8}, "not supported: cannot index with the dynamic dimension 1");
  check("u8[5]", {7}, "invalid: the indices tensor is u8[5], must be i32 or i64");
  check("i32[5]", {-1}, "invalid: an axis of size -1");
  check("i32[5]", {}, "invalid: no size of an axis");
}

}  // namespace
}  // namespace attune::infer
