#include "graph/infer.h"

#include <limits>

#include "graph/ops/infer_case.h"

namespace attune {
namespace {

using infer::CheckCase;
using infer::TypeFromString;

TEST(CheckType, AcceptsWhatAValueMayHave) {
  EXPECT_TRUE(CheckType(TypeFromString("f32[]")).ok());
  EXPECT_TRUE(CheckType(TypeFromString("u8[1099511627776]")).ok());  // 2^40
  EXPECT_TRUE(CheckType(TypeFromString("f64[n<=100,0]")).ok());
  EXPECT_TRUE(CheckType(TypeFromString("f32[1,20,4,4]{c1/16}")).ok());
}

TEST(CheckType, RefusesWhatIsTooLarge) {
  EXPECT_FALSE(CheckType(TypeFromString("u8[1099511627777]")).ok());
  EXPECT_FALSE(CheckType(TypeFromString("f32[n<=1099511627776]")).ok());
  EXPECT_FALSE(CheckType(TypeFromString("f32[0,1099511627776]")).ok());
  EXPECT_FALSE(CheckType(TypeFromString("u8[4294967296,4294967296,4294967296]")).ok());
  EXPECT_FALSE(CheckType(TypeFromString("u8[549755813889,1]{c1/16}")).ok());  // by its padding alone
  EXPECT_FALSE(CheckType(TensorType(DType::kU8, Shape{std::numeric_limits<int64_t>::max()})).ok());
  EXPECT_FALSE(CheckType(TensorType(DType::kU8, std::vector<Dim>(65, Dim(1)))).ok());
}

TEST(CheckType, RefusesNegativeDimensionsAndBrokenLayouts) {
  EXPECT_FALSE(CheckType(TensorType(DType::kF32, std::vector<Dim>{-1})).ok());
  EXPECT_FALSE(CheckType(TypeFromString("f32[4,4]{c2/16}")).ok());
  EXPECT_FALSE(CheckType(TypeFromString("f32[4,4]{c1/0}")).ok());
}

TEST(BroadcastDims, NamesBothShapes) {
  EXPECT_EQ(*BroadcastDims({2, 1}, {3}), (std::vector<Dim>{2, 3}));
  EXPECT_EQ(*BroadcastDims({}, {Dim("n", 4)}), (std::vector<Dim>{Dim("n", 4)}));
  EXPECT_EQ(*BroadcastDims({1}, {0}), (std::vector<Dim>{0}));
  EXPECT_EQ(BroadcastDims({2, 5}, {4}).status().message(), "cannot broadcast [2,5] and [4]");
  EXPECT_EQ(BroadcastDims({Dim("n", 4)}, {Dim("m", 4)}).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(InferTypes, RefusesInvalidInputsAndResults) {
  CheckCase({"relu", {"f32[1099511627776]"}, {}, "invalid: f32[1099511627776] is larger than 2^40 bytes"});
  CheckCase({"add",
             {"f32[1048576,1]", "f32[1048576]"},
             {},
             "invalid: f32[1048576,1048576] is larger than 2^40 bytes"});
  CheckCase({"cast", {"u8[1099511627776]"}, {{"to", DType::kI16}}, "invalid: is larger than 2^40 bytes"});
}

}  // namespace
}  // namespace attune
