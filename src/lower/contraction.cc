// Convolutions and matrix products: sums of products over a window or an inner dimension.
#include <algorithm>

#include "base/status.h"
#include "lower/definition.h"
#include "lower/operators.h"

namespace attune {
namespace {

// Strides, dilations and pads of a convolution, defaults filled in.
struct Window {
  Ints strides, dilations, pads;
  int64_t group;

  Window(const Node& node, size_t spatial)
      : strides(node.attrs().IntList("strides", Ints(spatial, 1))),
        dilations(node.attrs().IntList("dilations", Ints(spatial, 1))),
        pads(node.attrs().IntList("pads", Ints(2 * spatial, 0))),
        group(node.attrs().Int("group", 1)) {}
};

std::vector<std::string> ReduceNames(size_t spatial) {
  static const std::vector<std::string> kNames[] = {
      {"c"}, {"c", "kw"}, {"c", "kh", "kw"}, {"c", "kd", "kh", "kw"}};
  if (spatial < 4) return kNames[spatial];
  std::vector<std::string> names = {"c"};
  for (size_t d = 0; d < spatial; ++d) names.push_back(absl::StrCat("k", d));
  return names;
}

DType Accumulator(const Node& node) {
  return IsFloat(node.output()->type().dtype) ? ComputeType(node.output()->type().dtype)
                                              : node.output()->type().dtype;
}

// `element` minus its zero point (input `zero`, a scalar or along `index`), in the type of the sum if that
// has more than 32 bits, else in i32; unchanged for floats.
Expr Centered(const Definition& definition, const Node& node, Expr element, int zero, const Expr& index) {
  if (IsFloat(element->dtype)) return element;
  const DType sum = Accumulator(node);
  element = CastTo(DTypeSize(sum) > 4 ? sum : DType::kI32, element);
  const Value* point = node.input(zero);
  if (point == nullptr) return element;
  const bool scalar = point->type().num_elements() == 1;
  const Indices at(point->type().dims.size(), scalar ? Expr(int64_t{0}) : index);
  return element - CastTo(DType::kI32, definition.Read(point, at));
}

// Adds the bias of a convolution, one number a channel, if it has one. All three must outlive the sum's use.
void AddBias(const Definition& definition, const Node& node, Reduction& sum) {
  if (node.input(2) == nullptr) return;
  sum.finish = [&](const Expr& total, const Indices& i) {
    return total + definition.ReadComputed(node.input(2), {i[1]});
  };
}

}  // namespace

// y[n,m,o…] = Σ_{c,k…} x[n, group(m)·C/g + c, o·stride + k·dilation − pad, …] · w[m,c,k…]
absl::Status DefineConv(Definition& definition, const Node& node) {
  const Value* x = node.input(0);
  const Value* w = node.input(1);
  const Shape xs = x->type().shape(), ws = w->type().shape();
  const size_t spatial = xs.size() - 2;
  const Window window(node, spatial);
  const bool integer = node.op() == Op::kConvInteger;
  const int64_t outputs_per_group = ws[0] / window.group;

  Reduction sum;
  sum.extents.assign(ws.begin() + 1, ws.end());
  sum.names = ReduceNames(spatial);
  sum.dtype = Accumulator(node);
  const auto position = [&](const Indices& i, const Indices& r, size_t d) {
    return i[2 + d] * Expr(window.strides[d]) + r[1 + d] * Expr(window.dilations[d]) - Expr(window.pads[d]);
  };
  sum.term = [&](const Indices& i, const Indices& r) {
    Indices at = {i[0], FloorDiv(i[1], outputs_per_group) * Expr(ws[1]) + r[0]};
    if (window.group == 1) at[1] = r[0];
    Indices weight_at = {i[1]};
    weight_at.insert(weight_at.end(), r.begin(), r.end());
    for (size_t d = 0; d < spatial; ++d) at.push_back(position(i, r, d));
    const Expr a = Centered(definition, node, definition.ReadComputed(x, at), 2, i[1]);
    const Expr b = Centered(definition, node, definition.ReadComputed(w, weight_at), 3, i[1]);
    return a * b;
  };
  sum.where = [&](const Indices& i, const Indices& r) {
    Expr inside;
    for (size_t d = 0; d < spatial; ++d) {
      if (window.pads[d] == 0 && window.pads[spatial + d] == 0) continue;
      const Expr p = position(i, r, d);
      const Expr here = And(p >= Expr(int64_t{0}), p < Expr(xs[2 + d]));
      inside = inside ? And(inside, here) : here;
    }
    return inside;
  };
  if (!integer) AddBias(definition, node, sum);
  definition.DefineReduction(node, node.output(), sum);
  return absl::OkStatus();
}

// The transpose of a convolution, gathered: output position o takes input p with p·stride + k·dilation − pad
// = o.
absl::Status DefineConvTranspose(Definition& definition, const Node& node) {
  const Value* x = node.input(0);
  const Value* w = node.input(1);
  const Shape xs = x->type().shape(), ws = w->type().shape();
  const size_t spatial = xs.size() - 2;
  const Window window(node, spatial);
  const int64_t inputs_per_group = xs[1] / window.group;

  Reduction sum;
  sum.extents = {inputs_per_group};
  sum.extents.insert(sum.extents.end(), ws.begin() + 2, ws.end());
  sum.names = ReduceNames(spatial);
  sum.dtype = Accumulator(node);
  const auto shifted = [&](const Indices& i, const Indices& r, size_t d) {
    return i[2 + d] + Expr(window.pads[d]) - r[1 + d] * Expr(window.dilations[d]);
  };
  sum.term = [&](const Indices& i, const Indices& r) {
    const Expr group = window.group == 1 ? Expr(int64_t{0}) : FloorDiv(i[1], ws[1]);
    const Expr channel = group * Expr(inputs_per_group) + r[0];
    Indices at = {i[0], channel};
    Indices weight_at = {channel, window.group == 1 ? i[1] : FloorMod(i[1], ws[1])};
    weight_at.insert(weight_at.end(), r.begin() + 1, r.end());
    for (size_t d = 0; d < spatial; ++d) at.push_back(FloorDiv(shifted(i, r, d), window.strides[d]));
    return definition.ReadComputed(x, at) * definition.ReadComputed(w, weight_at);
  };
  sum.where = [&](const Indices& i, const Indices& r) {
    Expr hit;
    for (size_t d = 0; d < spatial; ++d) {
      const Expr s = shifted(i, r, d);
      Expr here = And(s >= Expr(int64_t{0}), s < Expr(xs[2 + d] * window.strides[d]));
      if (window.strides[d] != 1) here = And(here, Equal(FloorMod(s, window.strides[d]), Expr(int64_t{0})));
      hit = hit ? And(hit, here) : here;
    }
    return hit;
  };
  AddBias(definition, node, sum);
  definition.DefineReduction(node, node.output(), sum);
  return absl::OkStatus();
}

// y[…,m,n] = Σ_k a[…,m,k] · b[…,k,n]; batch dimensions broadcast.
absl::Status DefineMatMul(Definition& definition, const Node& node) {
  const Value* a = node.input(0);
  const Value* b = node.input(1);
  const bool transpose_a = node.attrs().Bool("transpose_a"), transpose_b = node.attrs().Bool("transpose_b");
  const Shape as = a->type().shape();
  const size_t rank_a = as.size();

  Reduction sum;
  sum.extents = {transpose_a ? as[rank_a - 2] : as[rank_a - 1]};
  sum.names = {"k"};
  sum.dtype = Accumulator(node);
  // The operand's indices: its batch dimensions from the output's, then row and column.
  const auto operand = [](const Value* v, const Indices& i, Expr row, Expr column, bool transposed) {
    const std::vector<Dim>& dims = v->type().dims;
    const size_t batch = dims.size() - 2, skipped = i.size() - dims.size();
    Indices at;
    for (size_t d = 0; d < batch; ++d) at.push_back(dims[d] == Dim(1) ? Expr(int64_t{0}) : i[skipped + d]);
    if (transposed) std::swap(row, column);
    at.push_back(row);
    at.push_back(column);
    return at;
  };
  sum.term = [&](const Indices& i, const Indices& r) {
    const Expr m = i[i.size() - 2], n = i[i.size() - 1];
    const Expr x = definition.ReadComputed(a, operand(a, i, m, r[0], transpose_a));
    const Expr y = definition.ReadComputed(b, operand(b, i, r[0], n, transpose_b));
    return Centered(definition, node, x, 2, m) * Centered(definition, node, y, 3, n);
  };
  definition.DefineReduction(node, node.output(), sum);
  return absl::OkStatus();
}

}  // namespace attune
