// The inner loop of all contractions: a matrix times a panel of columns.
//
// Convolution, matrix product and attention all reduce to out[m, p] = Σₖ a[m, k] b[k, p]. Each gathers
// kPanelColumns columns of b into its own panel (such as the patches of a convolution), so that the inner
// loop runs over contiguous columns and the compiler can vectorize it.
#ifndef ATTUNE_REFERENCE_PANEL_H_
#define ATTUNE_REFERENCE_PANEL_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace attune::reference {

inline constexpr int64_t kPanelColumns = 64;

// Adds the product of kRows rows of `a` [.., depth] and `panel` [depth, kPanelColumns] to the first
// `columns` columns of as many rows of `out`, which are `out_stride` apart. T is double, or uint64_t for
// integers.
template <int kRows, typename T>
void MultiplyRows(const T* a, int64_t depth, const T* panel, int64_t columns, T* out, int64_t out_stride) {
  T sums[kRows][kPanelColumns] = {};
  for (int64_t k = 0; k < depth; ++k) {
    const T* b = panel + k * kPanelColumns;
    for (int row = 0; row < kRows; ++row) {
      const T factor = a[row * depth + k];
      for (int64_t p = 0; p < kPanelColumns; ++p) sums[row][p] += factor * b[p];
    }
  }
  for (int row = 0; row < kRows; ++row) {
    for (int64_t p = 0; p < columns; ++p) out[row * out_stride + p] += sums[row][p];
  }
}

// The same for any number of rows.
template <typename T>
void MultiplyPanel(const T* a, int64_t rows, int64_t depth, const T* panel, int64_t columns, T* out,
                   int64_t out_stride) {
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    MultiplyRows<4>(a + row * depth, depth, panel, columns, out + row * out_stride, out_stride);
  }
  for (; row < rows; ++row) {
    MultiplyRows<1>(a + row * depth, depth, panel, columns, out + row * out_stride, out_stride);
  }
}

// Columns [first, first + kPanelColumns) of the matrix with element (k, n) at b[k row_stride + n
// column_stride]; zeros beyond its width.
template <typename T>
std::vector<T> GatherPanel(const T* b, int64_t depth, int64_t width, int64_t row_stride,
                           int64_t column_stride, int64_t first) {
  std::vector<T> panel(static_cast<size_t>(depth * kPanelColumns), T{0});
  const int64_t columns = std::min(kPanelColumns, width - first);
  for (int64_t k = 0; k < depth; ++k) {
    const T* row = b + k * row_stride + first * column_stride;
    for (int64_t p = 0; p < columns; ++p) panel[k * kPanelColumns + p] = row[p * column_stride];
  }
  return panel;
}

}  // namespace attune::reference

#endif  // ATTUNE_REFERENCE_PANEL_H_
