// The data that a kernel is checked and timed with: inputs, and the outputs of the reference for them. It
// is a blob with this layout:
//
//   header    8 bytes with its length, then what ReferenceData::Parse reads
//   inputs    each starts at a page
//   expected  value, bound and spread bound of each output, each starts at a page
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

// An expected result, in its memory layout.
struct ExpectedOutput {
  DType dtype = DType::kF32;
  std::span<const std::byte> value;
  // For each element in memory, the error allowed; negative for an element that is not read.
  std::span<const float> bound;
  std::span<const float> spread_bound;  // as in BoundedOutput; empty: same as `bound`
};

// Views into a mapped blob. Movable; the destructor unmaps it.
class ReferenceData {
 public:
  // Fails if it is damaged, or cannot be mapped.
  static absl::StatusOr<ReferenceData> Map(int file);

  struct Input {
    std::span<const std::byte> bytes;  // including the gaps between elements
    bool is_constant = false;
  };
  const std::vector<Input>& inputs() const { return inputs_; }
  const std::vector<ExpectedOutput>& outputs() const { return outputs_; }
  struct DynamicDim {
    int64_t size = 0;
    bool is_given = false;  // an input has it; otherwise the kernel computes it
  };
  // By dimension slot.
  const std::vector<DynamicDim>& dims() const { return dims_; }

  // Hides the expected results from processes that are forked from now on.
  void HideExpected() const;

 private:
  explicit ReferenceData(MappedFile file) : file_(std::move(file)) {}
  absl::Status Parse();
  absl::StatusOr<std::span<const std::byte>> Segment(int64_t offset, int64_t bytes) const;

  MappedFile file_;
  size_t expected_begin_ = 0;  // offset of a page in the file; everything from here on is hidden
  std::vector<Input> inputs_;
  std::vector<ExpectedOutput> outputs_;
  std::vector<DynamicDim> dims_;
};

// Returns nothing if `actual`, which is as long as the expected value, is within the bounds; otherwise a
// description of the differences.
std::optional<std::string> FindDifference(const ExpectedOutput& expected, std::span<const std::byte> actual,
                                          bool spreads_rounding);

}  // namespace attune

#endif  // ATTUNE_MEASURE_REFERENCE_DATA_H_
