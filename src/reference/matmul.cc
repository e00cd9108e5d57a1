// Matrix products with broadcast batches.
#include <cmath>

#include "base/checked.h"
#include "base/parallel.h"
#include "base/status.h"
#include "reference/broadcast.h"
#include "reference/kernels.h"
#include "reference/magnitude.h"
#include "reference/panel.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

// One operand: its matrix [rows, columns] after transposition, and its batch.
struct Operand {
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;
  Shape batch;

  Operand(const Shape& shape, bool transpose) : batch(shape.begin(), shape.end() - 2) {
    rows = shape[shape.size() - 2];
    columns = shape.back();
    row_stride = columns;
    column_stride = 1;
    if (transpose) {
      std::swap(rows, columns);
      std::swap(row_stride, column_stride);
    }
  }
};

struct Product {
  Operand a;
  Operand b;
  Shape batch;
  // For each matrix of the batch, the index of the operand's matrix.
  std::vector<int64_t> a_matrices;
  std::vector<int64_t> b_matrices;

  Shape OutputShape() const {
    Shape shape = batch;
    shape.push_back(a.rows);
    shape.push_back(b.columns);
    return shape;
  }
};

// For each element of `broadcast`, its flat index in the row-major `batch`.
std::vector<int64_t> BatchMap(const Shape& batch, const Shape& broadcast) {
  const Shape strides = RowMajorStrides(batch);
  const size_t shift = broadcast.size() - batch.size();
  std::vector<int64_t> map;
  ForEachIndex(broadcast, [&](const Shape& index) {
    int64_t flat = 0;
    for (size_t axis = 0; axis < batch.size(); ++axis) {
      if (batch[axis] != 1) flat += index[axis + shift] * strides[axis];
    }
    map.push_back(flat);
  });
  return map;
}

absl::StatusOr<Product> ReadProduct(const Node& node, Inputs inputs) {
  const Operand a(inputs[0].shape(), node.attrs().Bool("transpose_a"));
  const Operand b(inputs[1].shape(), node.attrs().Bool("transpose_b"));
  ASSIGN_OR_RETURN(Shape batch, BroadcastShape(a.batch, b.batch));
  Product product{a, b, std::move(batch), {}, {}};
  RETURN_IF_ERROR(NewTensor(DType::kF64, product.OutputShape()).status());  // before allocating memory
  product.a_matrices = BatchMap(a.batch, product.batch);
  product.b_matrices = BatchMap(b.batch, product.batch);
  return product;
}

// `values` with each matrix as dense rows: transposes a transposed one.
template <typename T>
std::vector<T> DenseRows(const Operand& operand, std::vector<T> values) {
  if (operand.column_stride == 1) return values;
  std::vector<T> rows(values.size());
  const int64_t size = operand.rows * operand.columns;
  for (int64_t start = 0; size > 0 && start < static_cast<int64_t>(values.size()); start += size) {
    for (int64_t i = 0; i < operand.rows; ++i) {
      for (int64_t j = 0; j < operand.columns; ++j) {
        rows[start + i * operand.columns + j] = values[start + i + j * operand.column_stride];
      }
    }
  }
  return rows;
}

template <typename T>
std::vector<T> Multiply(const Product& product, std::vector<T> a_values, const std::vector<T>& b) {
  const std::vector<T> a = DenseRows(product.a, std::move(a_values));
  const int64_t rows = product.a.rows;
  const int64_t depth = product.a.columns;
  const int64_t width = product.b.columns;
  const int64_t panels = CeilDiv(width, kPanelColumns);
  const auto batch = static_cast<int64_t>(product.a_matrices.size());
  std::vector<T> out(static_cast<size_t>(batch * rows * width), T{0});
  if (out.empty()) return out;
  ParallelFor(batch * panels, [&](int64_t task) {
    const int64_t matrix = task / panels;
    const int64_t first = task % panels * kPanelColumns;
    const std::vector<T> panel = GatherPanel(b.data() + product.b_matrices[matrix] * depth * width, depth,
                                             width, product.b.row_stride, product.b.column_stride, first);
    MultiplyPanel(a.data() + product.a_matrices[matrix] * rows * depth, rows, depth, panel.data(),
                  std::min(kPanelColumns, width - first), out.data() + matrix * rows * width + first, width);
  });
  return out;
}

// The operand minus its zero point: a single one, or one for each row (or column) of every matrix.
std::vector<double> LoadLessZero(const Operand& operand, const Tensor& values, Inputs inputs, int zero,
                                 bool by_row) {
  std::vector<double> out = Load<double>(values);
  if (!IsPresent(inputs, zero)) return out;
  const std::vector<double> zeros = Load<double>(inputs[zero]);
  const int64_t lines = by_row ? operand.rows : operand.columns;
  const int64_t stride = by_row ? operand.row_stride : operand.column_stride;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] -= zeros.size() == 1 ? zeros[0] : zeros[static_cast<int64_t>(i) / stride % lines];
  }
  return out;
}

}  // namespace

Outputs EvaluateMatMul(const Node& node, Inputs inputs) {
  ASSIGN_OR_RETURN(const Product product, ReadProduct(node, inputs));
  return WithRing(inputs[0].dtype(), [&](auto ring) {
    using T = decltype(ring);
    return One(Store(Multiply(product, Load<T>(inputs[0]), Load<T>(inputs[1])), SumType(node, inputs),
                     product.OutputShape()));
  });
}

// Products of 8-bit integers are exact as doubles, and so are sums of fewer than 2^36 of them.
Outputs EvaluateMatMulInteger(const Node& node, Inputs inputs) {
  ASSIGN_OR_RETURN(const Product product, ReadProduct(node, inputs));
  const std::vector<double> sums = Multiply(product, LoadLessZero(product.a, inputs[0], inputs, 2, true),
                                            LoadLessZero(product.b, inputs[1], inputs, 3, false));
  const std::vector<int64_t> exact(sums.begin(), sums.end());
  return One(Store(exact, DType::kI32, product.OutputShape()));
}

absl::StatusOr<Tensor> MatMulMagnitude(const Node& node, std::span<const Tensor> inputs) {
  ASSIGN_OR_RETURN(const Product product, ReadProduct(node, inputs));
  std::vector<double> a = Load<double>(inputs[0]);
  std::vector<double> b = Load<double>(inputs[1]);
  for (double& value : a) value = std::fabs(value);
  for (double& value : b) value = std::fabs(value);
  return Store(Multiply(product, std::move(a), b), DType::kF64, product.OutputShape());
}

}  // namespace attune::reference
