#include "import/common/einsum.h"

#include <algorithm>
#include <iterator>

namespace attune::importing {
namespace {

// Takes the diagonal over letters that occur twice, by comparing positions and summing.
Labelled TakeDiagonals(Emitter& c, Labelled x) {
  for (size_t i = 0; i < x.letters.size(); ++i) {
    const size_t j = x.letters.find(x.letters[i], i + 1);
    if (j == std::string::npos) continue;
    const Shape shape = c.ShapeOf(x.value);
    Shape along_i(shape.size(), 1);
    Shape along_j(shape.size(), 1);
    along_i[i] = shape[i];
    along_j[j] = shape[j];
    Value* equal = c.Emit(Op::kEqual, {c.Reshape(c.Count(DType::kI64, shape[i]), along_i),
                                       c.Reshape(c.Count(DType::kI64, shape[j]), along_j)});
    Value* kept = c.Where(equal, x.value, c.ScalarLike(x.value, 0));
    x.value = c.Reduce(Op::kReduceSum, kept, {static_cast<int64_t>(j)}, false);
    x.letters.erase(j, 1);
    --i;
  }
  return x;
}

// Sums over the letters that are not in `needed`.
Labelled SumOut(Emitter& c, Labelled x, const std::string& needed) {
  Ints axes;
  std::string kept;
  for (size_t i = 0; i < x.letters.size(); ++i) {
    if (needed.find(x.letters[i]) == std::string::npos) {
      axes.push_back(static_cast<int64_t>(i));
    } else {
      kept.push_back(x.letters[i]);
    }
  }
  if (!axes.empty()) x.value = c.Reduce(Op::kReduceSum, x.value, axes, false);
  return {x.value, kept};
}

// The axes of x in the order of `letters`; missing letters become axes of size 1.
Value* Arrange(Emitter& c, const Labelled& x, const std::string& letters) {
  const Shape shape = c.ShapeOf(x.value);
  Ints perm;
  Shape arranged;
  for (char letter : letters) {
    const size_t at = x.letters.find(letter);
    if (at != std::string::npos) perm.push_back(static_cast<int64_t>(at));
    arranged.push_back(at != std::string::npos ? shape[at] : 1);
  }
  return c.Reshape(c.Transpose(x.value, perm), arranged);
}

int64_t SizeOf(Emitter& c, const Labelled& x, const std::string& letters) {
  int64_t size = 1;
  for (char letter : letters) size = Product({size, c.ShapeOf(x.value)[x.letters.find(letter)]});
  return size;
}

std::string Intersection(const std::string& a, const std::string& b) {
  std::string common;
  std::copy_if(a.begin(), a.end(), std::back_inserter(common),
               [&b](char x) { return b.find(x) != std::string::npos; });
  return common;
}

std::string Difference(const std::string& a, const std::string& b) {
  std::string rest;
  std::copy_if(a.begin(), a.end(), std::back_inserter(rest),
               [&b](char x) { return b.find(x) == std::string::npos; });
  return rest;
}

// The product of two terms as a batched matmul: [batch, rows, inner] × [batch, inner, columns].
Labelled Contract(Emitter& c, Labelled a, Labelled b, const std::string& needed) {
  a = SumOut(c, a, b.letters + needed);
  b = SumOut(c, b, a.letters + needed);
  const std::string common = Intersection(a.letters, b.letters);
  for (char letter : common) {
    const int64_t size_a = SizeOf(c, a, std::string(1, letter));
    const int64_t size_b = SizeOf(c, b, std::string(1, letter));
    if (size_a == size_b) continue;
    // Only axes of an ellipsis broadcast: multiply elementwise, which supports that.
    const std::string all = a.letters + Difference(b.letters, a.letters);
    return SumOut(c, {c.Mul(Arrange(c, a, all), Arrange(c, b, all)), all}, needed);
  }
  const std::string batch = Intersection(common, needed);
  const std::string inner = Difference(common, needed);
  const std::string rows = Difference(a.letters, common);
  const std::string columns = Difference(b.letters, common);
  const int64_t count = SizeOf(c, a, batch);
  Value* left =
      c.Reshape(Arrange(c, a, batch + rows + inner), {count, SizeOf(c, a, rows), SizeOf(c, a, inner)});
  Value* right =
      c.Reshape(Arrange(c, b, batch + inner + columns), {count, SizeOf(c, b, inner), SizeOf(c, b, columns)});
  Shape shape;
  for (char letter : batch + rows) shape.push_back(SizeOf(c, a, std::string(1, letter)));
  for (char letter : columns) shape.push_back(SizeOf(c, b, std::string(1, letter)));
  return {c.Reshape(c.MatMul(left, right), shape), batch + rows + columns};
}

}  // namespace

Value* SumOfProducts(Emitter& c, const std::vector<Labelled>& terms, const std::string& output) {
  Labelled result = TakeDiagonals(c, terms.at(0));
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string needed = output;
    for (size_t j = i + 1; j < terms.size(); ++j) needed += terms[j].letters;
    result = Contract(c, result, TakeDiagonals(c, terms[i]), needed);
  }
  result = SumOut(c, result, output);
  if (result.letters.size() != output.size()) Invalid("its equation gives letters that no input has");
  return Arrange(c, result, output);
}

}  // namespace attune::importing
