// What a kernel is checked and timed with: inputs, and what the reference makes of them. It lies in a blob,
// as
//
//   header    8 bytes with its length, then what ReferenceData::Parse reads
//   inputs    each from a page on
//   expected  value, bound and spread bound of each output, each from a page on
#ifndef ATTUNE_MEASURE_REFERENCE_DATA_H_
#define ATTUNE_MEASURE_REFERENCE_DATA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "measure/blob.h"

namespace attune {

// The result that is expected, in the layout in which it lies in memory.
struct ExpectedOutput {
  DType dtype = DType::kF32;
  std::span<const std::byte> value;
  // By element in memory, how far it may be off; negative where nobody reads it.
  std::span<const float> bound;
  std::span<const float> spread_bound;  // as BoundedOutput's; empty: no different
};

// Views into a mapped blob. Movable; the mapping ends with it.
class ReferenceData {
 public:
  // Errors: it is damaged, or cannot be mapped.
  static absl::StatusOr<ReferenceData> Map(int file);

  struct Input {
    std::span<const std::byte> bytes;  // with what lies between elements
    bool is_constant = false;
  };
  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<ExpectedOutput>& outputs() const { return outputs_; }
  struct DynamicDim {
    int64_t size = 0;
    bool is_given = false;  // since an input has it; else the kernel says it
  };
  // By slot.
  const std::vector<DynamicDim>& dims() const { return dims_; }

  // In processes that are forked from now on, the expected results do not exist.
  void HideExpected() const;

 private:
  explicit ReferenceData(MappedFile file) : file_(std::move(file)) {}
  absl::Status Parse();
  absl::StatusOr<std::span<const std::byte>> Segment(int64_t offset, int64_t bytes) const;

  MappedFile file_;
  size_t expected_begin_ = 0;  // of the file, at a page: what is to be hidden lies from here on
  std::vector<Input> inputs_;
  std::vector<ExpectedOutput> outputs_;
  std::vector<DynamicDim> dims_;
};

// Nothing where `actual`, as long as the expected value, is within the bounds; else what differs.
std::optional<std::string> FindDifference(const ExpectedOutput& expected, std::span<const std::byte> actual,
                                          bool spreads_rounding);

}  // namespace attune

#endif  // ATTUNE_MEASURE_REFERENCE_DATA_H_
