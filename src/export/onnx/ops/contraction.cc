// Matrix products and operators that are built from them.
#include <numeric>
#include <utility>

#include "export/onnx/ops/writers.h"

namespace attune::onnx_export {
namespace {

// Transposes the last two of the `rank` dimensions of `name`.
std::string Transposed(NodeContext& c, const std::string& name, int rank) {
  Ints perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return c.Emit("Transpose", {name}, {{"perm", perm}});
}

}  // namespace

// In ONNX, only Gemm transposes its operands, and these are matrices.
absl::Status WriteMatMul(NodeContext& c, const OperatorRow& row) {
  const bool transpose_a = c.attrs().Bool("transpose_a"), transpose_b = c.attrs().Bool("transpose_b");
  const bool are_matrices = c.type(0).rank() == 2 && c.type(1).rank() == 2;
  Names inputs = c.AllIn();
  if (c.node().op() == Op::kMatMul && are_matrices && (transpose_a || transpose_b)) {
    c.Finish("Gemm", inputs, {{"transA", int64_t{transpose_a}}, {"transB", int64_t{transpose_b}}});
    return absl::OkStatus();
  }
  if (transpose_a) inputs[0] = Transposed(c, inputs[0], c.type(0).rank());
  if (transpose_b) inputs[1] = Transposed(c, inputs[1], c.type(1).rank());
  c.Finish(row.name, inputs);
  return absl::OkStatus();
}

// softmax(scale q kᵀ + mask) v
absl::Status WriteAttention(NodeContext& c, const OperatorRow& row) {
  const std::string keys = Transposed(c, c.In(1), c.type(1).rank());
  const std::string scale = c.Scalar(c.type().dtype, c.attrs().Float("scale"));
  std::string scores = c.Emit("Mul", {c.Emit(row.name, {c.In(0), keys}), scale});
  if (!c.In(3).empty()) scores = c.Emit("Add", {scores, c.In(3)});
  const std::string weights = c.Emit("Softmax", {scores}, {{"axis", int64_t{-1}}});
  c.Finish(row.name, {weights, c.In(2)});
  return absl::OkStatus();
}

// (x, w, offset, bias?, mask?)
absl::Status WriteDeformConv(NodeContext& c, const OperatorRow& row) {
  c.Finish(row.name, {c.In(0), c.In(2), c.In(1), c.In(3), c.In(4)}, HandedOn(c, row));
  return absl::OkStatus();
}

}  // namespace attune::onnx_export
