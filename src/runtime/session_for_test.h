// Shared by tests of the C interface: a session of the sample artifact, and its expected results.
#ifndef ATTUNE_RUNTIME_SESSION_FOR_TEST_H_
#define ATTUNE_RUNTIME_SESSION_FOR_TEST_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "artifact/testing/sample_artifact.h"
#include "attune/attune.h"

namespace attune::testing {

struct FreeModel {
  void operator()(attune_model* model) const { attune_model_free(model); }
};
using ModelHandle = std::unique_ptr<attune_model, FreeModel>;
struct FreeSession {
  void operator()(attune_session* session) const { attune_session_free(session); }
};
using SessionHandle = std::unique_ptr<attune_session, FreeSession>;

inline ModelHandle LoadBytes(const std::string& file) {
  attune_model* model = nullptr;
  attune_error error{};
  EXPECT_EQ(attune_load_memory(file.data(), file.size(), nullptr, &model, &error), ATTUNE_OK)
      << error.message;
  return ModelHandle(model);
}

inline SessionHandle NewSession(const ModelHandle& model, size_t threads = 1) {
  attune_session* session = nullptr;
  attune_error error{};
  EXPECT_EQ(attune_session_create(model.get(), threads, &session, &error), ATTUNE_OK) << error.message;
  return SessionHandle(session);
}

// Fills the input with values from -5 to 5 that depend on the seed; their sums with w[i, j] = j - i have
// both signs.
inline void FillInput(attune_session* session, int seed) {
  float* x = static_cast<float*>(attune_session_input(session, 0));
  for (int i = 0; i < kRows * kColumns; ++i) x[i] = static_cast<float>((i * 7 + seed) % 11) - 5.0f;
}

inline std::vector<float> ExpectedSum(int seed) {
  std::vector<float> sum(kRows * kColumns);
  for (int i = 0; i < kRows * kColumns; ++i) {
    const int row = i / kColumns, column = i % kColumns;
    sum[i] = static_cast<float>((i * 7 + seed) % 11) - 5.0f + static_cast<float>(column - row);
  }
  return sum;
}

struct Floats {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

inline Floats OutputOf(attune_session* session, size_t index) {
  attune_output output{};
  attune_error error{};
  EXPECT_EQ(attune_session_output(session, index, &output, &error), ATTUNE_OK) << error.message;
  const float* data = static_cast<const float*>(output.data);
  return {{output.shape, output.shape + output.rank}, {data, data + output.bytes / sizeof(float)}};
}

// Runs the session and compares every output with the expected result of the kernels.
inline void RunAndCheck(attune_session* session, int seed) {
  FillInput(session, seed);
  attune_error error{};
  ASSERT_EQ(attune_session_run(session, &error), ATTUNE_OK) << error.message;
  const std::vector<float> sum = ExpectedSum(seed);
  ASSERT_EQ(OutputOf(session, 0).values, sum);

  std::vector<float> rows;
  for (int i = 0; i < kRows; ++i) {
    if (sum[i * kColumns] > 0) rows.insert(rows.end(), &sum[i * kColumns], &sum[i * kColumns] + kColumns);
  }
  const Floats kept_rows = OutputOf(session, 1);
  ASSERT_THAT(kept_rows.shape, ::testing::ElementsAre(rows.size() / kColumns, kColumns));
  ASSERT_EQ(kept_rows.values, rows);

  std::vector<float> columns;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      if (sum[j] > 0) columns.push_back(sum[i * kColumns + j]);
    }
  }
  for (const size_t output : {2, 4}) {  // computed by the kernel, and copied to a wider tensor
    const Floats kept_columns = OutputOf(session, output);
    ASSERT_THAT(kept_columns.shape, ::testing::ElementsAre(kRows, columns.size() / kRows));
    ASSERT_EQ(kept_columns.values, columns);
  }
  attune_output counter{};
  ASSERT_EQ(attune_session_output(session, 3, &counter, nullptr), ATTUNE_OK);
  ASSERT_EQ(*static_cast<const int64_t*>(counter.data), 5);
  ASSERT_EQ(counter.rank, 0u);
  ASSERT_EQ(OutputOf(session, 5).values, sum);
}

}  // namespace attune::testing

#endif  // ATTUNE_RUNTIME_SESSION_FOR_TEST_H_
