#include "graph/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/type.h"

namespace attune {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Tensor, IsZeroedAlignedAndSharedByCopies) {
  Tensor tensor(DType::kF32, {3, 5});
  EXPECT_EQ(tensor.num_elements(), 15);
  EXPECT_EQ(tensor.num_bytes(), 60);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 64, 0u);
  EXPECT_THAT(tensor.as<float>(), Each(0.0f));
  const Tensor copy = tensor;
  EXPECT_EQ(copy.data(), tensor.data());
  EXPECT_EQ(tensor.Reshaped({15}).data(), tensor.data());
  EXPECT_EQ(tensor.Reshaped({15}).shape(), Shape{15});
}

TEST(Tensor, AllocateRefusesWhatDoesNotFit) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  EXPECT_FALSE(Tensor::Allocate(DType::kF32, {-1}).ok());
  EXPECT_FALSE(Tensor::Allocate(DType::kI8, {kHuge, 4}).ok());
  EXPECT_FALSE(Tensor::Allocate(DType::kF64, {kHuge}).ok());
  EXPECT_FALSE(Tensor::Allocate(DType::kI8, {std::numeric_limits<int64_t>::max()}).ok());
  EXPECT_EQ(Tensor::Allocate(DType::kF32, {257}, 1024).status().message(),
            "a tensor of shape [257] takes 1028 bytes, at most 1024 are allowed");
  EXPECT_TRUE(Tensor::Allocate(DType::kF32, {256}, 1024).ok());
  // More than any address space: the system refuses it, and that is an error, not an exception.
  EXPECT_EQ(Tensor::Allocate(DType::kI8, {kHuge}, kHuge).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(Tensor, EmptyTensorsHaveData) {
  const auto tensor = Tensor::Allocate(DType::kF32, {0, 7});
  ASSERT_TRUE(tensor.ok());
  EXPECT_NE(tensor->data(), nullptr);
  EXPECT_EQ(tensor->num_elements(), 0);
  EXPECT_TRUE(tensor->Identical(Tensor(DType::kF32, {0, 7})));
  EXPECT_FALSE(tensor->Identical(Tensor(DType::kF32, {0, 8})));
}

TEST(Tensor, IntegersTruncateAndSaturate) {
  const auto store = [](DType dtype, double value) { return Tensor::Scalar(dtype, value).ToInt(0); };
  EXPECT_EQ(store(DType::kI8, 1.9), 1);
  EXPECT_EQ(store(DType::kI8, -1.9), -1);
  EXPECT_EQ(store(DType::kI8, 200), 127);
  EXPECT_EQ(store(DType::kI8, -kInfinity), -128);
  EXPECT_EQ(store(DType::kU8, -3), 0);
  EXPECT_EQ(store(DType::kU8, 255.9), 255);
  EXPECT_EQ(store(DType::kI32, 2147483646.5), 2147483646);
  EXPECT_EQ(store(DType::kI32, kNan), 0);
  EXPECT_EQ(store(DType::kI64, 1e30), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(store(DType::kI64, -1e30), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(store(DType::kBool, 0.5), 1);
  EXPECT_EQ(store(DType::kBool, 0), 0);
  EXPECT_EQ(Tensor::Scalar(DType::kU64, 1e30).as<uint64_t>()[0], std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(Tensor::Scalar(DType::kU64, 1e30).ToInt(0), std::numeric_limits<int64_t>::max());
  EXPECT_THAT(Tensor::FromInts(std::vector<int64_t>{-1, 70000, 5}, DType::kU16).ToInts(),
              ElementsAre(0, 65535, 5));
  EXPECT_EQ(Tensor::Scalar(DType::kF32, 1e30).ToInt(0), std::numeric_limits<int64_t>::max());
}

TEST(Tensor, HalfFloatsRoundOnceToNearestEven) {
  const auto f16 = [](double value) { return Tensor::Scalar(DType::kF16, value).ToDouble(0); };
  EXPECT_EQ(f16(1 + 0x1p-11), 1);                      // a tie, to even
  EXPECT_EQ(f16(1 + 0x3p-11), 1 + 0x1p-9);             // a tie, to even
  EXPECT_EQ(f16(1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);  // by way of a float it would be a tie
  EXPECT_EQ(f16(-(1 + 0x1p-11 + 0x1p-40)), -(1 + 0x1p-10));
  EXPECT_EQ(f16(65519), 65504);
  EXPECT_EQ(f16(65520), kInfinity);
  EXPECT_EQ(f16(1e300), kInfinity);
  EXPECT_EQ(f16(0x1p-25 + 0x1p-60), 0x1p-24);
  EXPECT_EQ(f16(1e-300), 0);
  EXPECT_TRUE(std::signbit(f16(-1e-300)));
  EXPECT_TRUE(std::isnan(f16(kNan)));
  EXPECT_EQ(Tensor::Scalar(DType::kBF16, 1 + 0x1p-8 + 0x1p-40).ToDouble(0), 1 + 0x1p-7);
  EXPECT_EQ(Tensor::Scalar(DType::kBF16, 1 + 0x1p-8).ToDouble(0), 1);
}

TEST(Tensor, NumbersKeepEveryInteger) {
  const auto kept = [](DType dtype, const ExactNumber& number) {
    return Tensor::Scalar(dtype, number).ToNumber(0);
  };
  constexpr int64_t k53 = int64_t{1} << 53;
  for (const ExactNumber number :
       {ExactNumber(k53 + 1), ExactNumber(-k53 - 1), ExactNumber(INT64_MIN), ExactNumber(INT64_MAX)}) {
    EXPECT_EQ(kept(DType::kI64, number), number);
  }
  EXPECT_EQ(kept(DType::kU64, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(kept(DType::kI64, UINT64_MAX), INT64_MAX);
  EXPECT_EQ(kept(DType::kU64, -1), 0);
  EXPECT_EQ(kept(DType::kU8, 300), 255);
  EXPECT_EQ(kept(DType::kI8, -1.5), -1);
  EXPECT_EQ(kept(DType::kBool, UINT64_MAX), 1);
  EXPECT_EQ(kept(DType::kF32, k53 + 1), k53);
}

TEST(TensorType, ShapesCountAndPrint) {
  TensorType type(DType::kF32, Shape{1, 20, 7, 7});
  EXPECT_TRUE(type.is_static());
  EXPECT_EQ(ToString(type), "f32[1,20,7,7]");
  EXPECT_EQ(type.physical_shape(), type.shape());
  type.layout = {.blocked_axis = 1, .block = 16};
  EXPECT_EQ(ToString(type), "f32[1,20,7,7]{c1/16}");
  EXPECT_EQ(type.physical_shape(), (Shape{1, 2, 7, 7, 16}));
  EXPECT_EQ(type.num_elements(), 980);
  EXPECT_EQ(type.num_physical_elements(), 1568);

  const TensorType dynamic(DType::kI64, std::vector<Dim>{Dim("n", 100), 3, Dim("a b", 2)});
  EXPECT_FALSE(dynamic.is_static());
  EXPECT_EQ(ToString(dynamic), "i64[n<=100,3,\"a b\"<=2]");
  EXPECT_EQ(dynamic.shape(), (Shape{100, 3, 2}));
  EXPECT_EQ(ToString(TensorType(DType::kBool, Shape{})), "bool[]");
}

}  // namespace
}  // namespace attune
