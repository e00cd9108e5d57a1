#include "graph/literal.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/overloaded.h"

namespace attune {
namespace {

// The NaN that prints as "nan": positive, quiet, without payload.
uint64_t QuietNan(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x7E00;
    case DType::kBF16:
      return 0x7FC0;
    case DType::kF32:
      return 0x7FC00000;
    default:
      return 0x7FF8000000000000;
  }
}

uint64_t ElementBits(const Tensor& tensor, int64_t i) {
  const int size = DTypeSize(tensor.dtype());
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.data() + i * size, static_cast<size_t>(size));
  return bits;
}

void SetElementBits(Tensor& tensor, int64_t i, uint64_t bits) {
  const int size = DTypeSize(tensor.dtype());
  std::memcpy(tensor.mutable_data() + i * size, &bits, static_cast<size_t>(size));
}

std::string FormatNan(DType dtype, uint64_t bits) {
  if (bits == QuietNan(dtype)) return "nan";
  return absl::StrCat("nan.", absl::Hex(bits, absl::PadSpec(absl::kZeroPad2 + 2 * DTypeSize(dtype) - 2)));
}

// The whole of `text` as a T, which from_chars reads.
template <typename T, typename... Base>
std::optional<T> ParseWhole(std::string_view text, Base... base) {
  T value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Refuses NaN, for which from_chars makes up a payload: only the spelling of FormatNan is read as NaN.
template <typename T>
std::optional<T> ParseFinite(std::string_view text) {
  const std::optional<T> value = ParseWhole<T>(text);
  if (!value || std::isnan(*value)) return std::nullopt;
  return value;
}

template <typename T, typename... Precision>
std::string Shortest(T value, Precision... precision) {
  char buffer[40];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value, precision...);
  return {buffer, result.ptr};
}

// The 16-bit floats have no to_chars: the fewest digits that read back as the same bits. Five always do.
std::string FormatShort(const Tensor& tensor, int64_t i) {
  const double value = tensor.ToDouble(i);
  if (std::isinf(value)) return Shortest(value);
  Tensor parsed(tensor.dtype(), {});
  for (int digits = 1;; ++digits) {
    const std::string text = Shortest(value, std::chars_format::general, digits);
    if (!ParseElement(text, parsed, 0) || ElementBits(parsed, 0) != ElementBits(tensor, i)) continue;
    return Shortest(ParseFinite<double>(text).value_or(value));  // 65500 rather than 6.55e+04
  }
}

bool ParseNan(std::string_view text, Tensor& tensor, int64_t i) {
  uint64_t bits = QuietNan(tensor.dtype());
  if (text.size() > 3) {
    const std::optional<uint64_t> parsed = ParseWhole<uint64_t>(text.substr(4), 16);
    if (text[3] != '.' || !parsed || (*parsed >> 1 >> (8 * DTypeSize(tensor.dtype()) - 1)) != 0) return false;
    bits = *parsed;
  }
  SetElementBits(tensor, i, bits);
  return std::isnan(tensor.ToDouble(i));
}

bool ParseFloatElement(std::string_view text, Tensor& tensor, int64_t i) {
  if (absl::StartsWith(text, "nan")) return ParseNan(text, tensor, i);
  if (tensor.dtype() == DType::kF32) {  // directly: through a double it would round twice
    const std::optional<float> value = ParseFinite<float>(text);
    if (value) tensor.as_mutable<float>()[static_cast<size_t>(i)] = *value;
    return value.has_value();
  }
  const std::optional<double> value = ParseFinite<double>(text);
  if (!value) return false;
  tensor.SetDouble(i, *value);
  return std::isinf(*value) || !std::isinf(tensor.ToDouble(i));
}

}  // namespace

std::string FormatFloat(double value) {
  if (std::isnan(value)) return FormatNan(DType::kF64, std::bit_cast<uint64_t>(value));
  return Shortest(value);
}

std::optional<double> ParseFloat(std::string_view text) {
  Tensor scalar(DType::kF64, {});
  if (!ParseFloatElement(text, scalar, 0)) return std::nullopt;
  return scalar.as<double>()[0];
}

std::optional<int64_t> ParseInt(std::string_view text) { return ParseWhole<int64_t>(text); }

std::string FormatNumber(const ExactNumber& value) {
  constexpr int64_t kExact = int64_t{1} << 53;  // every smaller integer is a double
  return value.Visit(Overloaded{
      [](double real) { return FormatFloat(real); }, [](uint64_t integer) { return absl::StrCat(integer); },
      [](int64_t integer) {
        const bool exact = integer >= -kExact && integer <= kExact;
        return exact ? FormatFloat(static_cast<double>(integer)) : absl::StrCat(integer);
      }});
}

std::optional<ExactNumber> ParseNumber(std::string_view text) {
  const std::optional<int64_t> integer = ParseInt(text);
  if (integer && text != "-0") return *integer;
  if (const std::optional<uint64_t> large = ParseWhole<uint64_t>(text)) return *large;
  const std::optional<double> real = ParseFloat(text);
  return real ? std::optional(ExactNumber(*real)) : std::nullopt;
}

std::string FormatElement(const Tensor& tensor, int64_t i) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::kU64) return absl::StrCat(ElementBits(tensor, i));
  if (!IsFloat(dtype)) return absl::StrCat(tensor.ToInt(i));
  if (std::isnan(tensor.ToDouble(i))) return FormatNan(dtype, ElementBits(tensor, i));
  if (dtype == DType::kF64) return Shortest(tensor.ToDouble(i));
  if (dtype == DType::kF32) return Shortest(tensor.as<float>()[static_cast<size_t>(i)]);
  return FormatShort(tensor, i);
}

bool ParseElement(std::string_view text, Tensor& tensor, int64_t i) {
  const DType dtype = tensor.dtype();
  if (IsFloat(dtype)) return ParseFloatElement(text, tensor, i);
  if (dtype == DType::kU64) {
    const std::optional<uint64_t> value = ParseWhole<uint64_t>(text);
    if (value) SetElementBits(tensor, i, *value);
    return value.has_value();
  }
  const std::optional<int64_t> value = ParseInt(text);
  if (!value) return false;
  tensor.SetInt(i, *value);
  return tensor.ToInt(i) == *value;
}

}  // namespace attune
