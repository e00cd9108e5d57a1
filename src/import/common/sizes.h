// Computes with the sizes and numbers of a model's file, which may be anything.
#ifndef ATTUNE_IMPORT_COMMON_SIZES_H_
#define ATTUNE_IMPORT_COMMON_SIZES_H_

#include <cstdint>
#include <string_view>

#include "graph/graph.h"

namespace attune::importing {

// Product of dims [begin, end).
int64_t Product(const Shape& shape, int64_t begin, int64_t end);
inline int64_t Product(const Shape& shape) { return Product(shape, 0, static_cast<int64_t>(shape.size())); }
// Checked arithmetic: a broken model on overflow.
int64_t Multiply(int64_t a, int64_t b);
// A size, pad or border from the file, which must be in [low, 2^40]; otherwise a broken model.
int64_t CheckedSize(int64_t value, std::string_view what, int64_t low = 0);
// The offset of the last of `count` windows that are `step` apart: (count - 1) step. It is small enough to
// add sizes without overflow.
int64_t LastStep(int64_t count, int64_t step);
// How many of start, start + step, … lie before limit. A broken model if that is not a number of elements.
int64_t CountSteps(const ExactNumber& start, const ExactNumber& limit, const ExactNumber& step);
// first, first + 1, …, first + count - 1.
Ints Iota(int64_t count, int64_t first = 0);

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_SIZES_H_
