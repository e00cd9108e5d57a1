#include "import/tflite/sparse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "flatbuffers/flatbuffers.h"
#include "import/common/failure.h"

namespace attune::tflite {
namespace {

using importing::ImportFailure;
using schema::DimensionType;
using schema::SparseIndexVector;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Axis {
  int32_t dense = 0;  // 0: sparse
  std::vector<uint8_t> segments = {};
  std::vector<uint8_t> indices = {};
};

Tensor Spread(const std::vector<int32_t>& order, const std::vector<int32_t>& blocks,
              const std::vector<Axis>& axes, const std::vector<float>& values, const Shape& shape) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<schema::DimensionMetadata>> stored;
  for (const Axis& axis : axes) {
    if (axis.dense > 0) {
      stored.push_back(schema::CreateDimensionMetadata(builder, DimensionType::DENSE, axis.dense));
      continue;
    }
    const auto segments = schema::CreateUint8VectorDirect(builder, &axis.segments).Union();
    const auto indices = schema::CreateUint8VectorDirect(builder, &axis.indices).Union();
    stored.push_back(schema::CreateDimensionMetadata(builder, DimensionType::SPARSE_CSR, 0,
                                                     SparseIndexVector::Uint8Vector, segments,
                                                     SparseIndexVector::Uint8Vector, indices));
  }
  builder.Finish(schema::CreateSparsityParametersDirect(builder, &order, &blocks, &stored));
  const auto* sparsity = flatbuffers::GetRoot<schema::SparsityParameters>(builder.GetBufferPointer());
  return Densified(*sparsity, Tensor::FromFloats(values, {static_cast<int64_t>(values.size())}), shape);
}

std::vector<double> Elements(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) values.push_back(tensor.ToDouble(i));
  return values;
}

TEST(Sparse, CompressedRows) {
  EXPECT_THAT(Elements(Spread({0, 1}, {}, {{.dense = 2}, {.segments = {0, 1, 3}, .indices = {2, 0, 1}}},
                              {7, 8, 9}, {2, 3})),
              ElementsAre(0, 0, 7, 8, 9, 0));
}

TEST(Sparse, CompressedColumns) {
  EXPECT_THAT(Elements(Spread({1, 0}, {}, {{.dense = 2}, {.segments = {0, 1, 2}, .indices = {1, 0}}}, {7, 8},
                              {2, 2})),
              ElementsAre(0, 8, 7, 0));
}

// Blocks of 2x2 in a tensor of 4x4: the lower left and the upper right block.
TEST(Sparse, Blocks) {
  EXPECT_THAT(
      Elements(Spread({0, 1, 2, 3}, {0, 1},
                      {{.dense = 2}, {.segments = {0, 1, 2}, .indices = {1, 0}}, {.dense = 2}, {.dense = 2}},
                      {1, 2, 3, 4, 5, 6, 7, 8}, {4, 4})),
      ElementsAre(0, 0, 1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0));
}

TEST(Sparse, DamagedOnesAreRefused) {
  const auto error = [](const std::function<void()>& attempt) -> std::string {
    try {
      attempt();
    } catch (const ImportFailure& failure) {
      return std::string(failure.status.message());
    }
    return "";
  };
  const Axis rows = {.dense = 2};
  const auto spread = [&](const Axis& columns, const std::vector<float>& values) {
    return error([&] { Spread({0, 1}, {}, {rows, columns}, values, {2, 3}); });
  };
  EXPECT_THAT(spread({.segments = {0, 1, 1}, .indices = {3}}, {7}), HasSubstr("index 3 is not below 3"));
  EXPECT_THAT(spread({.segments = {0, 9, 9}, .indices = {0}}, {7}), HasSubstr("not in order"));
  EXPECT_THAT(spread({.segments = {0, 1}, .indices = {0}}, {7}), HasSubstr("lacks segments"));
  EXPECT_THAT(spread({.segments = {0, 1, 1}, .indices = {0}}, {7, 8}),
              HasSubstr("2 values and places for 1"));
  EXPECT_THAT(spread({.segments = {0, 1, 2}, .indices = {0, 1}}, {7}), HasSubstr("fewer values"));
  EXPECT_THAT(error([&] { Spread({0, 0}, {}, {rows, rows}, {7}, {2, 2}); }),
              HasSubstr("traverses axis 0 at 1"));
  EXPECT_THAT(error([&] { Spread({0, 1}, {}, {{.dense = 5}, rows}, {7}, {2, 2}); }),
              HasSubstr("dense axis of 5"));
}

}  // namespace
}  // namespace attune::tflite
