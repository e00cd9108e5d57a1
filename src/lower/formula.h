// Index arithmetic and small formulas that lowerings share.
#ifndef ATTUNE_LOWER_FORMULA_H_
#define ATTUNE_LOWER_FORMULA_H_

#include <functional>
#include <string>
#include <vector>

#include "lower/definition.h"

namespace attune {

// The row-major offset of an element in a tensor of `shape`, and the indices for an offset. Shapes with a
// dimension of 0 have no elements: the result for them is never read.
Expr Flatten(const Indices& indices, const Shape& shape);
Indices Unflatten(const Expr& flat, const Shape& shape);

// min(max(x, low), high), in the type of x.
Expr Clamp(const Expr& x, int64_t low, int64_t high);

// Turns an index that a tensor holds, of any integer type, into an i64 index into an axis of `size`: a
// negative index counts from the end, and one out of range is clamped.
Expr WrapIndex(const Expr& index, int64_t size);

// `indices` with axis `axis` replaced by `at`.
Indices Replaced(Indices indices, int64_t axis, const Expr& at);
// `indices` without axis `axis`, and with `at` inserted before axis `axis`.
Indices Without(Indices indices, int64_t axis);
Indices Inserted(Indices indices, int64_t axis, const Expr& at);

// `shape` without one axis.
Shape WithoutAxis(Shape shape, int64_t axis);

// The product of shape[begin, end).
int64_t ProductOf(const Shape& shape, size_t begin, size_t end);
int64_t ProductOf(const Shape& shape);

Expr Apply(MathOp op, const Expr& x);

// Serial loops over `extents`, outermost first, with variables called `names`, around the statement that
// `body` returns for the variables.
Stmt MakeLoops(const std::vector<std::string>& names, const Shape& extents,
               const std::function<Stmt(const Indices&)>& body);
// The same for extents that only the run knows.
Stmt MakeLoopsUpTo(const std::vector<std::string>& names, const Indices& extents,
                   const std::function<Stmt(const Indices&)>& body);

// let name = value in body(name)
Stmt Bind(const std::string& name, const Expr& value, const std::function<Stmt(const Expr&)>& body);

// A variable of an imperative stage: a scratch buffer of one element.
struct Cell {
  Buffer buffer;

  Cell(const std::string& name, DType dtype) : buffer(MakeBuffer(name, dtype, {1}, MemorySpace::kScratch)) {}
  Expr Get() const { return Load(buffer, {Expr(int64_t{0})}); }
  Stmt Set(const Expr& value) const { return MakeStore(buffer, {Expr(int64_t{0})}, value); }
};

// `body` with the buffers allocated around it.
Stmt WithBuffers(const std::vector<Buffer>& buffers, Stmt body);

}  // namespace attune

#endif  // ATTUNE_LOWER_FORMULA_H_
