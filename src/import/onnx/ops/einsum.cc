// The equations of Einsum.
#include "import/common/einsum.h"

#include <algorithm>
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

}  // namespace

Outputs Einsum(OpContext& c) {
  const Equation e = ParseEquation(c);
  std::vector<importing::Labelled> terms;
  for (int i = 0; i < c.num_inputs(); ++i) terms.push_back({c.In(i), e.inputs[i]});
  return {importing::SumOfProducts(c, terms, e.output)};
}

}  // namespace attune::onnx
