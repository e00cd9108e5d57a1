// For tests: a kernel that runs on any machine, out = a + b, and the data that it is measured with.
#ifndef ATTUNE_MEASURE_SUM_KERNEL_FOR_TEST_H_
#define ATTUNE_MEASURE_SUM_KERNEL_FOR_TEST_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "artifact/testing/sample_artifact.h"
#include "base/process/message.h"
#include "measure/kernel.h"

namespace attune {

inline constexpr size_t kSumElements = size_t{testing::kRows} * testing::kColumns;

inline BuiltKernel SumKernel() {
  testing::SampleArtifact sample = testing::MakeSampleArtifact();
  const uint64_t offset = sample.variant().kernels[testing::kAdd].interface.code_offset;
  constexpr auto kBytes = static_cast<int64_t>(kSumElements * sizeof(float));
  BuiltKernel kernel;
  kernel.code.bytes.assign(reinterpret_cast<const char*>(sample.code.data()), sample.code.size());
  kernel.code.phases = {{static_cast<int64_t>(offset), /*parallel=*/true}};
  kernel.code.params = {{ParamKind::kInput, 0, DType::kF32, kBytes},
                        {ParamKind::kInput, 1, DType::kF32, kBytes},
                        {ParamKind::kOutput, 0, DType::kF32, kBytes}};
  kernel.code_digest = std::string(64, 'a');
  return kernel;
}

// Both inputs are ones, and each element of the output is `expected`: 2 is right. In the layout of
// measure/reference_data.h.
inline std::string SumData(float expected) {
  constexpr size_t kPage = 4096, kBytes = kSumElements * sizeof(float);
  static_assert(kBytes <= kPage);
  constexpr float kOne = 1;
  const std::vector<float> pages[] = {std::vector<float>(kSumElements, kOne),
                                      std::vector<float>(kSumElements, expected),
                                      std::vector<float>(kSumElements, 0)};  // the error allowed
  MessageWriter header;
  const auto add_segment = [&](size_t page) {
    header.Int(static_cast<int64_t>((1 + page) * kPage));
    header.Int(kBytes);
  };
  header.Int(2 * kPage);  // where the expected results begin
  header.Int(2);          // inputs, neither of which is constant
  for (int input = 0; input < 2; ++input) {
    header.Int(0);
    add_segment(0);
  }
  header.Int(1);  // output
  header.Int(static_cast<int64_t>(DType::kF32));
  for (const size_t page : {1, 2, 2}) add_segment(page);
  header.Int(0);  // dynamic dimensions

  const auto header_bytes = static_cast<int64_t>(header.text().size());
  std::string data((1 + std::size(pages)) * kPage, '\0');
  std::memcpy(data.data(), &header_bytes, sizeof(header_bytes));
  header.text().copy(data.data() + sizeof(header_bytes), header.text().size());
  for (size_t page = 0; page < std::size(pages); ++page)
    std::memcpy(data.data() + (1 + page) * kPage, pages[page].data(), kBytes);
  return data;
}

}  // namespace attune

#endif  // ATTUNE_MEASURE_SUM_KERNEL_FOR_TEST_H_
