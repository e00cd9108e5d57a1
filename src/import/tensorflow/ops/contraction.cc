// Matrix products and Einsum.
#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "absl/strings/str_split.h"
#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

// A value with one letter per axis.
struct Labelled {
  Value* value;
  std::string letters;
};

bool Has(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

std::string Kept(const std::string& letters, const std::string& among, bool inside) {
  std::string kept;
  std::copy_if(letters.begin(), letters.end(), std::back_inserter(kept),
               [&](char letter) { return Has(among, letter) == inside; });
  return kept;
}

// Replaces the ellipsis of a term by letters, aligned at the right, that no equation can contain.
std::string ExpandEllipsis(const std::string& term, int64_t axes) {
  const size_t dots = term.find("...");
  if (dots == std::string::npos) return term;
  if (axes < 0 || axes > 32) Invalid("its equation has more letters than an input has axes");
  std::string letters;
  for (int64_t i = axes; i > 0; --i) letters.push_back(static_cast<char>(i));
  return term.substr(0, dots) + letters + term.substr(dots + 3);
}

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

Equation ParseEquation(OpContext& c) {
  std::string text = c.String("equation", "");
  std::erase(text, ' ');
  const std::vector<std::string> sides = absl::StrSplit(text, "->");
  if (sides.size() != 2) Invalid("its equation does not say what the result is");
  Equation e;
  const std::vector<std::string> terms = absl::StrSplit(sides[0], ',');
  e.inputs = terms;
  if (static_cast<int>(e.inputs.size()) != c.num_inputs())
    Invalid("its equation has another number of inputs");
  int64_t ellipsis = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const int64_t axes = c.InRank(i) - (static_cast<int64_t>(e.inputs[i].size()) - 3);
    if (e.inputs[i].find("...") != std::string::npos) ellipsis = std::max(ellipsis, axes);
    e.inputs[i] = ExpandEllipsis(e.inputs[i], axes);
    if (static_cast<int>(e.inputs[i].size()) != c.InRank(i)) Invalid("its equation does not fit input ", i);
  }
  e.output = ExpandEllipsis(sides[1], ellipsis);
  return e;
}

// Sums over the letters that are not in `needed`.
Labelled SumOut(OpContext& c, const Labelled& x, const std::string& needed) {
  Ints axes;
  for (size_t i = 0; i < x.letters.size(); ++i) {
    if (!Has(needed, x.letters[i])) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return x;
  return {c.Reduce(Op::kReduceSum, x.value, axes, false), Kept(x.letters, needed, true)};
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

// The product of two terms as a batched matrix product: [batch, rows, inner] × [batch, inner, columns].
Labelled Contract(OpContext& c, Labelled a, Labelled b, const std::string& needed) {
  a = SumOut(c, a, b.letters + needed);
  b = SumOut(c, b, a.letters + needed);
  std::map<char, int64_t> sizes;
  bool broadcasts = false;  // an axis of the ellipsis may have size 1 on one side
  for (const Labelled& x : {a, b}) {
    const Shape shape = c.ShapeOf(x.value);
    for (size_t i = 0; i < x.letters.size(); ++i) {
      const auto [it, inserted] = sizes.emplace(x.letters[i], shape[i]);
      broadcasts |= !inserted && it->second != shape[i];
    }
  }
  const std::string common = Kept(a.letters, b.letters, true);
  if (broadcasts) {
    const std::string all = a.letters + Kept(b.letters, a.letters, false);
    return SumOut(c, {c.Mul(Arrange(c, a, all), Arrange(c, b, all)), all}, needed);
  }
  const std::string batch = Kept(common, needed, true);
  const std::string inner = Kept(common, needed, false);
  const std::string rows = Kept(a.letters, common, false);
  const std::string columns = Kept(b.letters, common, false);
  const auto size = [&sizes](const std::string& letters) {
    int64_t product = 1;
    for (char letter : letters) product = Multiply(product, sizes.at(letter));
    return product;
  };
  Value* left = c.Reshape(Arrange(c, a, batch + rows + inner), {size(batch), size(rows), size(inner)});
  Value* right = c.Reshape(Arrange(c, b, batch + inner + columns), {size(batch), size(inner), size(columns)});
  Shape shape;
  for (char letter : batch + rows + columns) shape.push_back(sizes.at(letter));
  return {c.Reshape(c.MatMul(left, right), shape), batch + rows + columns};
}

}  // namespace

Outputs MatMul(OpContext& c) {
  return {c.MatMul(c.In(0), c.In(1), c.Bool("transpose_a"), c.Bool("transpose_b"))};
}

Outputs BatchMatMul(OpContext& c) { return {c.MatMul(c.In(0), c.In(1), c.Bool("adj_x"), c.Bool("adj_y"))}; }

Outputs Einsum(OpContext& c) {
  const Equation e = ParseEquation(c);
  for (const std::string& term : e.inputs) {
    for (char letter : term) {
      if (std::ranges::count(term, letter) > 1)
        Unsupported("a diagonal: an input with the same letter twice");
    }
  }
  Labelled result = {c.In(0), e.inputs.at(0)};
  for (int i = 1; i < c.num_inputs(); ++i) {
    std::string needed = e.output;
    for (int j = i + 1; j < c.num_inputs(); ++j) needed += e.inputs[j];
    result = Contract(c, result, {c.In(i), e.inputs[i]}, needed);
  }
  result = SumOut(c, result, e.output);
  if (!Kept(e.output, result.letters, false).empty() || result.letters.size() != e.output.size()) {
    Invalid("its equation gives letters that no input has");
  }
  return {Arrange(c, result, e.output)};
}

}  // namespace attune::tensorflow
