#include "import/common/sizes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "import/common/failure.h"

namespace attune::importing {

int64_t Product(const Shape& shape, int64_t begin, int64_t end) {
  const std::optional<int64_t> product =
      CheckedProduct(std::span<const int64_t>(shape).subspan(begin, end - begin));
  if (!product) Invalid("a shape overflows: [", absl::StrJoin(shape, ","), "]");
  return *product;
}

int64_t Multiply(int64_t a, int64_t b) {
  const std::optional<int64_t> product = CheckedMul(a, b);
  if (!product) Invalid(a, " times ", b, " overflows");
  return *product;
}

int64_t CheckedSize(int64_t value, std::string_view what, int64_t low) {
  if (value < low || value > (int64_t{1} << 40)) Invalid("its ", what, " is ", value);
  return value;
}

int64_t LastStep(int64_t count, int64_t step) {
  return CheckedSize(Multiply(count - 1, step), "extent", INT32_MIN);
}

int64_t CountSteps(const ExactNumber& start, const ExactNumber& limit, const ExactNumber& step) {
  constexpr double kMaxCount = 0x1p40;
  const auto checked = [](double count) {
    // Also for NaN, which a step of 0 gives.
    if (!(std::abs(count) < kMaxCount)) Invalid("it has ", count, " elements");
    return static_cast<int64_t>(std::max(count, 0.0));
  };
  if (!start.is_integer() || !limit.is_integer() || !step.is_integer()) {
    return checked(std::ceil((limit.ToDouble() - start.ToDouble()) / step.ToDouble()));
  }
  const auto wide = [](const ExactNumber& number) {
    return number.Visit([](auto value) { return static_cast<__int128>(value); });
  };
  const __int128 distance = wide(limit) - wide(start), stride = wide(step);
  if (stride == 0) Invalid("its step is 0");
  if (distance == 0 || (distance < 0) != (stride < 0)) return 0;
  const __int128 count = (distance + stride - (stride < 0 ? -1 : 1)) / stride;
  return checked(static_cast<double>(count));
}

Ints Iota(int64_t count, int64_t first) {
  Ints values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace attune::importing
