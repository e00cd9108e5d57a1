// Matrix products and Einsum.
#include <algorithm>
#include <string>

#include "absl/strings/str_split.h"
#include "import/common/einsum.h"
#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

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
  std::vector<importing::Labelled> terms;
  for (int i = 0; i < c.num_inputs(); ++i) terms.push_back({c.In(i), e.inputs[i]});
  return {importing::SumOfProducts(c, terms, e.output)};
}

}  // namespace attune::tensorflow
