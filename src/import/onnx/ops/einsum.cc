// Einsum: sums of products over named axes, as a sequence of batched matrix products.
#include <algorithm>
#include <iterator>
#include <string>

#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

// An Einsum equation with one letter per axis; the ellipsis is replaced by letters for its axes.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

// Letters for the axes of an ellipsis, aligned at the right; no equation can contain these.
std::string EllipsisLetters(int count) {
  std::string letters;
  for (int i = count; i > 0; --i) letters.push_back(static_cast<char>(i));
  return letters;
}

// Replaces the ellipsis in `term`, which labels `rank` axes in total.
std::string ExpandEllipsis(const std::string& term, int rank) {
  const size_t dots = term.find("...");
  if (dots == std::string::npos) return term;
  const int named = static_cast<int>(term.size()) - 3;
  if (rank < named || rank > 64) Invalid("its equation has more letters than an input has axes");
  return term.substr(0, dots) + EllipsisLetters(rank - named) + term.substr(dots + 3);
}

Equation ParseEquation(OpContext& c) {
  std::string equation = c.String("equation", "");
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  Equation e;
  size_t begin = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const size_t comma = std::min(left.find(',', begin), left.size());
    const std::string term =
        ExpandEllipsis(left.substr(std::min(begin, left.size()), comma - begin), c.InRank(i));
    if (static_cast<int>(term.size()) != c.InRank(i))
      Invalid("its equation does not fit the rank of input ", i);
    e.inputs.push_back(term);
    begin = comma + 1;
  }
  if (begin <= left.size()) Invalid("its equation has more terms than inputs");
  std::string all;
  for (const std::string& term : e.inputs) all += term;
  int ellipsis = 0;
  for (char letter : all) {
    if (letter < 64) ellipsis = std::max<int>(ellipsis, letter);
  }
  if (arrow != std::string::npos) {
    const std::string right = equation.substr(arrow + 2);
    const bool dots = right.find("...") != std::string::npos;
    e.output = ExpandEllipsis(right, static_cast<int>(right.size()) + (dots ? ellipsis - 3 : 0));
  } else {  // implicit: the ellipsis, then the letters that occur once, in alphabetical order
    std::string once;
    for (char letter : all) {
      if (letter >= 64 && std::count(all.begin(), all.end(), letter) == 1) once.push_back(letter);
    }
    std::sort(once.begin(), once.end());
    e.output = EllipsisLetters(ellipsis) + once;
  }
  return e;
}

// A value with one letter per axis.
struct Labelled {
  Value* value;
  std::string letters;
};

// Takes the diagonal over letters that occur twice, by comparing positions and summing.
Labelled TakeDiagonals(OpContext& c, Labelled x) {
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
Labelled SumOut(OpContext& c, Labelled x, const std::string& needed) {
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
Value* Arrange(OpContext& c, const Labelled& x, const std::string& letters) {
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

int64_t SizeOf(OpContext& c, const Labelled& x, const std::string& letters) {
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
Labelled Contract(OpContext& c, Labelled a, Labelled b, const std::string& needed) {
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

Outputs Einsum(OpContext& c) {
  const Equation e = ParseEquation(c);
  Labelled result = TakeDiagonals(c, {c.In(0), e.inputs.at(0)});
  for (int i = 1; i < c.num_inputs(); ++i) {
    std::string needed = e.output;
    for (int j = i + 1; j < c.num_inputs(); ++j) needed += e.inputs[j];
    result = Contract(c, result, TakeDiagonals(c, {c.In(i), e.inputs[i]}), needed);
  }
  result = SumOut(c, result, e.output);
  if (result.letters.size() != e.output.size()) Invalid("its equation gives letters that no input has");
  return {Arrange(c, result, e.output)};
}

}  // namespace attune::onnx
