#include "lower/formula.h"

#include <algorithm>
#include <utility>

namespace attune {

Expr Flatten(const Indices& indices, const Shape& shape) {
  Expr flat(int64_t{0});
  for (size_t d = 0; d < indices.size(); ++d) flat = flat * Expr(shape[d]) + indices[d];
  return flat;
}

Indices Unflatten(const Expr& flat, const Shape& shape) {
  Indices indices(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    const int64_t size = std::max<int64_t>(shape[d], 1);
    const Expr shifted = FloorDiv(flat, stride);
    indices[d] = size == 1 ? Expr(int64_t{0}) : d == 0 ? shifted : FloorMod(shifted, size);
    stride *= size;
  }
  return indices;
}

Expr Clamp(const Expr& x, int64_t low, int64_t high) {
  const auto constant = [&](int64_t value) {
    return IsFloat(x->dtype) ? FloatConst(static_cast<double>(value), x->dtype) : IntConst(value, x->dtype);
  };
  return Min(Max(x, constant(low)), constant(high));
}

Expr WrapIndex(const Expr& index, int64_t size) {
  const Expr wide = CastTo(DType::kI64, index);
  const Expr wrapped = Select(wide < Expr(int64_t{0}), wide + Expr(size), wide);
  return Clamp(wrapped, 0, std::max<int64_t>(size - 1, 0));
}

Indices Replaced(Indices indices, int64_t axis, const Expr& at) {
  indices[static_cast<size_t>(axis)] = at;
  return indices;
}

Indices Without(Indices indices, int64_t axis) {
  indices.erase(indices.begin() + axis);
  return indices;
}

Indices Inserted(Indices indices, int64_t axis, const Expr& at) {
  indices.insert(indices.begin() + axis, at);
  return indices;
}

Shape WithoutAxis(Shape shape, int64_t axis) {
  shape.erase(shape.begin() + axis);
  return shape;
}

int64_t ProductOf(const Shape& shape, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t d = begin; d < end; ++d) product *= shape[d];
  return product;
}

int64_t ProductOf(const Shape& shape) { return ProductOf(shape, 0, shape.size()); }

Expr Apply(MathOp op, const Expr& x) { return MakeOp(op, {x}); }

Stmt MakeLoops(const std::vector<std::string>& names, const Shape& extents,
               const std::function<Stmt(const Indices&)>& body) {
  return MakeLoopsUpTo(names, Indices(extents.begin(), extents.end()), body);
}

Stmt MakeLoopsUpTo(const std::vector<std::string>& names, const Indices& extents,
                   const std::function<Stmt(const Indices&)>& body) {
  std::vector<Var> vars;
  Indices indices;
  for (const std::string& name : names) {
    vars.push_back(MakeVar(name));
    indices.push_back(Expr(vars.back()));
  }
  Stmt nest = body(indices);
  for (size_t d = vars.size(); d-- > 0;) {
    nest = MakeFor(vars[d], Expr(int64_t{0}), extents[d], LoopKind::kSerial, std::move(nest));
  }
  return nest;
}

Stmt Bind(const std::string& name, const Expr& value, const std::function<Stmt(const Expr&)>& body) {
  const Var var = MakeVar(name, value->dtype);
  return MakeLet(var, value, body(Expr(var)));
}

Stmt WithBuffers(const std::vector<Buffer>& buffers, Stmt body) {
  for (auto it = buffers.rbegin(); it != buffers.rend(); ++it) body = MakeAllocate(*it, std::move(body));
  return body;
}

}  // namespace attune
