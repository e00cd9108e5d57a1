// Numbers in the text form: the shortest decimals that read back as the same bits.
#ifndef ATTUNE_GRAPH_LITERAL_H_
#define ATTUNE_GRAPH_LITERAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/exact_number.h"
#include "graph/tensor.h"

namespace attune {

// "1.5", "-0", "1e-05", "inf", "-inf", "nan". Any NaN but the positive quiet one without payload is spelled
// with all its bits in hexadecimal: "nan.fff8000000000000".
std::string FormatFloat(double value);
std::optional<double> ParseFloat(std::string_view text);

// Nothing where `text` is not a decimal integer of 64 bits.
std::optional<int64_t> ParseInt(std::string_view text);

// As a float where a double is exact, else as a decimal integer.
std::string FormatNumber(const ExactNumber& value);
std::optional<ExactNumber> ParseNumber(std::string_view text);

// Element i of `tensor`: floats as above, of the dtype's own precision; bool as 0 or 1.
std::string FormatElement(const Tensor& tensor, int64_t i);

// Stores the element that `text` spells. False where it is no number of the dtype: out of range, or a
// fraction for an integer.
bool ParseElement(std::string_view text, Tensor& tensor, int64_t i);

}  // namespace attune

#endif  // ATTUNE_GRAPH_LITERAL_H_
