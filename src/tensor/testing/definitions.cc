#include "tensor/testing/definitions.h"

#include <limits>

namespace attune {
namespace {

Buffer F32(const char* name, const std::vector<Extent>& shape) {
  return MakeOpenBuffer(name, DType::kF32, shape);
}

Stage MakeStage(const Buffer& output, std::vector<Axis> axes, Expr value) {
  Stage stage;
  stage.name = output->name;
  stage.output = output;
  stage.axes = std::move(axes);
  stage.value = std::move(value);
  return stage;
}

Stage MakeReduction(const Buffer& output, std::vector<Axis> axes, Axis reduced, MathOp combiner, double init,
                    Expr value) {
  Stage stage = MakeStage(output, std::move(axes), std::move(value));
  stage.reduce_axes = {std::move(reduced)};
  stage.combiner = combiner;
  stage.init = FloatConst(init);
  return stage;
}

}  // namespace

ComputeDef MatMulRelu(const Extent& m, const Extent& n, const Extent& k) {
  const Buffer a = F32("a", {m, k}), b = F32("b", {k, n}), c = F32("c", {m, n}), out = F32("out", {m, n});
  ComputeDef def;
  def.name = "matmul";
  def.params = {{a, BufferRole::kInput}, {b, BufferRole::kInput}, {out, BufferRole::kOutput}};
  const Var i = MakeVar("i"), j = MakeVar("j"), r = MakeVar("k"), x = MakeVar("i"), y = MakeVar("j");
  def.stages = {
      MakeReduction(c, {{i, m}, {j, n}}, {r, k}, MathOp::kAdd, 0, Load(a, {i, r}) * Load(b, {r, j})),
      MakeStage(out, {{x, m}, {y, n}}, Max(Load(c, {x, y}), FloatConst(0)))};
  return def;
}

ComputeDef PaddedConv(int64_t size, int64_t stride) {
  const int64_t width = (size - 1) / stride + 1;
  const Buffer x = F32("x", {size}), f = F32("f", {3}), pad = F32("pad", {size + 2});
  const Buffer conv = F32("conv", {width}), out = F32("out", {width});
  ComputeDef def;
  def.name = "conv";
  def.params = {{x, BufferRole::kInput}, {f, BufferRole::kInput}, {out, BufferRole::kOutput}};
  const Var p = MakeVar("p"), w = MakeVar("w"), r = MakeVar("r"), v = MakeVar("w");
  const Expr inside = And(Expr(p) >= 1, Expr(p) < size + 1);
  const Expr nearest = Max(Min(Expr(p) - 1, size - 1), 0);
  def.stages = {MakeStage(pad, {{p, size + 2}}, Select(inside, Load(x, {nearest}), FloatConst(0))),
                MakeReduction(conv, {{w, width}}, {r, 3}, MathOp::kAdd, 0,
                              Load(pad, {Expr(w) * stride + Expr(r)}) * Load(f, {r})),
                MakeStage(out, {{v, width}}, Load(conv, {v}) + FloatConst(1))};
  return def;
}

ComputeDef Softmax(const Extent& rows, const Extent& columns) {
  const Buffer x = F32("x", {rows, columns}), top = F32("top", {rows}), e = F32("exp", {rows, columns});
  const Buffer sum = F32("sum", {rows}), out = F32("out", {rows, columns});
  ComputeDef def;
  def.name = "softmax";
  def.params = {{x, BufferRole::kInput}, {out, BufferRole::kOutput}};
  const auto axis = [](const char* name, const Extent& extent) { return Axis{MakeVar(name), extent}; };
  const Axis i0 = axis("i", rows), j0 = axis("j", columns), i1 = axis("i", rows), j1 = axis("j", columns);
  const Axis i2 = axis("i", rows), j2 = axis("j", columns), i3 = axis("i", rows), j3 = axis("j", columns);
  const Expr shifted = Load(x, {i1.var, j1.var}) - Load(top, {i1.var});
  def.stages = {MakeReduction(top, {i0}, j0, MathOp::kMax, -std::numeric_limits<double>::infinity(),
                              Load(x, {i0.var, j0.var})),
                MakeStage(e, {i1, j1}, MakeOp(MathOp::kExp, {shifted})),
                MakeReduction(sum, {i2}, j2, MathOp::kAdd, 0, Load(e, {i2.var, j2.var})),
                MakeStage(out, {i3, j3}, Load(e, {i3.var, j3.var}) / Load(sum, {i3.var}))};
  return def;
}

}  // namespace attune
