#include "measure/reference_data.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/float16.h"
#include "base/int_type.h"
#include "base/process/message.h"
#include "base/status.h"

namespace attune {
namespace {

template <typename T>
T Identity(T value) {
  return value;
}

// Whether an element is within the bound; an expected NaN must be NaN, and an infinity must be the same
// infinity.
bool IsWithin(double expected, double actual, double bound) {
  if (std::isnan(expected)) return std::isnan(actual);
  return expected == actual || std::fabs(actual - expected) <= bound;
}

struct Difference {
  int64_t elements = 0, wrong = 0, first = -1;
  double expected = 0, actual = 0;
};

// `to_double` converts a stored element to a number.
template <typename T, typename F>
Difference CompareAs(const ExpectedOutput& expected, std::span<const float> bounds,
                     std::span<const std::byte> actual, F to_double) {
  Difference difference;
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i] < 0) continue;
    ++difference.elements;
    const std::byte* const got_bytes = actual.data() + i * sizeof(T);
    const std::byte* const wanted_bytes = expected.value.data() + i * sizeof(T);
    // Compare the bits first, since 64-bit integers lose digits as doubles.
    if (std::memcmp(got_bytes, wanted_bytes, sizeof(T)) == 0) continue;
    T a, b;
    std::memcpy(&a, got_bytes, sizeof(T));
    std::memcpy(&b, wanted_bytes, sizeof(T));
    const auto wanted = static_cast<double>(to_double(b)), got = static_cast<double>(to_double(a));
    const bool is_exact = bounds[i] == 0 && !IsFloat(expected.dtype);
    if (!is_exact && IsWithin(wanted, got, static_cast<double>(bounds[i]))) continue;
    if (difference.wrong++ > 0) continue;
    difference.first = static_cast<int64_t>(i);
    difference.expected = wanted;
    difference.actual = got;
  }
  return difference;
}

Difference CompareElements(const ExpectedOutput& expected, std::span<const float> bounds,
                           std::span<const std::byte> actual) {
  const auto as = [&]<typename T>(T) { return CompareAs<T>(expected, bounds, actual, Identity<T>); };
  switch (expected.dtype) {
    case DType::kF32:
      return as(float());
    case DType::kF64:
      return as(double());
    case DType::kF16:
      return CompareAs<uint16_t>(expected, bounds, actual, F16ToFloat);
    case DType::kBF16:
      return CompareAs<uint16_t>(expected, bounds, actual, BF16ToFloat);
    case DType::kBool:
      return as(uint8_t());
    default:
      return WithIntType(expected.dtype, as);
  }
}

}  // namespace

absl::StatusOr<ReferenceData> ReferenceData::Map(int file) {
  ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Map(file));
  ReferenceData data(std::move(mapped));
  RETURN_IF_ERROR(data.Parse());
  return data;
}

absl::StatusOr<std::span<const std::byte>> ReferenceData::Segment(int64_t offset, int64_t bytes) const {
  const std::optional<int64_t> end = CheckedAdd(offset, bytes);
  if (offset < 0 || bytes < 0 || !end || *end > std::ssize(file_.bytes()))
    return absl::DataLossError("damaged reference data");
  return file_.bytes().subspan(static_cast<size_t>(offset), static_cast<size_t>(bytes));
}

// Parses the format that tune/task/reference_data.cc writes.
absl::Status ReferenceData::Parse() {
  constexpr size_t kMaxCount = 4096;
  if (file_.bytes().size() < sizeof(int64_t)) return absl::DataLossError("damaged reference data");
  int64_t header_bytes = 0;
  std::memcpy(&header_bytes, file_.bytes().data(), sizeof(header_bytes));
  ASSIGN_OR_RETURN(const auto header, Segment(sizeof(int64_t), header_bytes));
  MessageReader in({reinterpret_cast<const char*>(header.data()), header.size()});
  const auto segment = [&](int64_t element_bytes) {
    const int64_t offset = in.Int(0), bytes = in.Int(0);
    const auto found = Segment(offset, bytes);
    if (!found.ok() || bytes % element_bytes != 0) in.Fail();
    return found.ok() ? *found : std::span<const std::byte>();
  };
  const auto floats = [&] {
    const auto bytes = segment(sizeof(float));
    return std::span(reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float));
  };
  expected_begin_ = static_cast<size_t>(in.Int(0, std::ssize(file_.bytes())));
  inputs_.resize(in.Count(kMaxCount));
  for (Input& input : inputs_) {
    input.is_constant = in.Bool();
    input.bytes = segment(1);
  }
  outputs_.resize(in.Count(kMaxCount));
  for (ExpectedOutput& output : outputs_) {
    output.dtype = static_cast<DType>(in.Int(0, kNumDTypes - 1));
    output.value = segment(DTypeSize(output.dtype));
    output.bound = floats();
    output.spread_bound = floats();
    const size_t elements = output.value.size() / static_cast<size_t>(DTypeSize(output.dtype));
    if (output.bound.size() != elements) in.Fail();
    if (!output.spread_bound.empty() && output.spread_bound.size() != elements) in.Fail();
  }
  dims_.resize(in.Count(kMaxCount));
  for (DynamicDim& dim : dims_) {
    dim.size = in.Int();
    dim.is_given = in.Bool();
  }
  return in.Finish();
}

void ReferenceData::HideExpected() const {
  // Best effort: this only guards against malicious kernels, which we do not promise to catch.
  file_.Hide(expected_begin_);
}

std::optional<std::string> FindDifference(const ExpectedOutput& expected, std::span<const std::byte> actual,
                                          bool spreads_rounding) {
  const auto bounds =
      spreads_rounding && !expected.spread_bound.empty() ? expected.spread_bound : expected.bound;
  if (actual.size() != expected.value.size())
    return absl::StrCat("has ", actual.size(), " bytes, expected ", expected.value.size());
  const Difference difference = CompareElements(expected, bounds, actual);
  if (difference.wrong == 0) return std::nullopt;
  return absl::StrCat(difference.wrong, " of ", difference.elements, " elements differ, the first at ",
                      difference.first, ": ", difference.actual, ", expected ", difference.expected);
}

}  // namespace attune
