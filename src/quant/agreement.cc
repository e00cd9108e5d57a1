#include "quant/agreement.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace attune::quant {
namespace {

// Sums of products over all float outputs.
struct Products {
  double mixed = 0, expected = 0, actual = 0, differences = 0;
  bool are_comparable = true;
};

Products ProductsOf(const Sample& expected, const Sample& actual) {
  Products products;
  for (size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
    if (!IsFloat(expected[i].dtype())) continue;
    if (expected[i].shape() != actual[i].shape()) {  // such as a different number of boxes
      products.are_comparable = false;
      continue;
    }
    for (int64_t j = 0; j < expected[i].num_elements(); ++j) {
      const double a = expected[i].ToDouble(j), b = actual[i].ToDouble(j);
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      products.mixed += a * b;
      products.expected += a * a;
      products.actual += b * b;
      products.differences += (a - b) * (a - b);
    }
  }
  return products;
}

bool HaveOneShape(const Sample& expected, const Sample& actual) {
  return !expected.empty() && !actual.empty() && expected[0].shape() == actual[0].shape() &&
         expected[0].num_elements() > 0;
}

// The class of each pixel.
std::vector<int64_t> ClassesOf(const Tensor& map) {
  const Shape& shape = map.shape();
  const bool are_last = shape[3] <= shape[1];
  const int64_t classes = are_last ? shape[3] : shape[1], pixels = map.num_elements() / shape[0] / classes;
  std::vector<int64_t> chosen;
  for (int64_t image = 0; image < shape[0]; ++image) {
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      const int64_t begin = image * pixels * classes + (are_last ? pixel * classes : pixel);
      chosen.push_back(ArgMax(map, begin, classes, are_last ? 1 : pixels));
    }
  }
  return chosen;
}

struct NamedCriterion {
  std::string_view name;
  double (*value)(const Sample&, const Sample&);
  double (*estimate)(const Sample&, const Sample&);
};
constexpr NamedCriterion kCriteria[] = {
    {"top-1", TopOneAgreement, LikelyTopOneAgreement},
    {"iou", OverlapAgreement, OverlapAgreement},
    {"error", ErrorAgreement, ErrorAgreement},
    {"cosine", CosineAgreement, CosineAgreement},
};

// The indices of the largest element and of the second largest; of equal ones, the first.
std::pair<int64_t, int64_t> TwoLargest(const Tensor& tensor, int64_t begin, int64_t size) {
  const int64_t first = begin + ArgMax(tensor, begin, size, 1);
  int64_t second = first == begin ? begin + 1 : begin;
  for (int64_t i = begin; i < begin + size; ++i) {
    if (i != first && tensor.ToDouble(i) > tensor.ToDouble(second)) second = i;
  }
  return {first, second};
}

// The likelihood that the row's largest element stays the largest.
double LikelihoodOf(const Tensor& expected, const Tensor& actual, int64_t begin, int64_t classes) {
  if (classes < 2) return 1;
  const auto [first, second] = TwoLargest(expected, begin, classes);
  const double difference = expected.ToDouble(first) - expected.ToDouble(second);
  const double change = std::abs(actual.ToDouble(first) - actual.ToDouble(second) - difference);
  if (!std::isfinite(change)) return 0;
  if (change == 0) return 1;
  return 1 - std::erfc(difference * std::numbers::inv_sqrtpi / change) / 2;
}

bool IsClassifier(const Sample& expected) {
  return expected.size() == 1 && expected[0].rank() == 2 && expected[0].num_elements() > 0;
}

double DefaultEstimate(const Sample& expected, const Sample& actual) {
  return IsClassifier(expected) ? LikelyTopOneAgreement(expected, actual) : ErrorAgreement(expected, actual);
}

}  // namespace

int64_t ArgMax(const Tensor& tensor, int64_t begin, int64_t size, int64_t stride) {
  int64_t best = 0;
  for (int64_t i = 1; i < size; ++i) {
    if (tensor.ToDouble(begin + i * stride) > tensor.ToDouble(begin + best * stride)) best = i;
  }
  return best;
}

double TopOneAgreement(const Sample& expected, const Sample& actual) {
  if (!HaveOneShape(expected, actual) || expected[0].rank() == 0) return 0;
  const int64_t classes = expected[0].shape().back(), rows = expected[0].num_elements() / classes;
  int64_t equal = 0;
  for (int64_t row = 0; row < rows; ++row)
    equal += ArgMax(expected[0], row * classes, classes, 1) == ArgMax(actual[0], row * classes, classes, 1);
  return static_cast<double>(equal) / static_cast<double>(rows);
}

double OverlapAgreement(const Sample& expected, const Sample& actual) {
  constexpr int kMapRank = 4;
  if (!HaveOneShape(expected, actual) || expected[0].rank() != kMapRank) return 0;
  const std::vector<int64_t> wanted = ClassesOf(expected[0]), given = ClassesOf(actual[0]);
  const auto classes = static_cast<size_t>(std::min(expected[0].shape()[1], expected[0].shape()[3]));
  std::vector<int64_t> common(classes, 0), either(classes, 0);
  for (size_t pixel = 0; pixel < wanted.size(); ++pixel) {
    const auto a = static_cast<size_t>(wanted[pixel]), b = static_cast<size_t>(given[pixel]);
    ++either[a];
    if (a == b) ++common[a];
    if (a != b) ++either[b];
  }
  double sum = 0, count = 0;
  for (size_t i = 0; i < classes; ++i) {
    if (either[i] == 0) continue;
    sum += static_cast<double>(common[i]) / static_cast<double>(either[i]);
    ++count;
  }
  return sum / count;
}

double ErrorAgreement(const Sample& expected, const Sample& actual) {
  const Products products = ProductsOf(expected, actual);
  if (!products.are_comparable) return 0;
  if (products.expected == 0) return products.actual == 0 ? 1 : 0;
  return std::max(0.0, 1 - std::sqrt(products.differences / products.expected));
}

double CosineAgreement(const Sample& expected, const Sample& actual) {
  const Products products = ProductsOf(expected, actual);
  if (!products.are_comparable) return 0;
  if (products.expected == 0 && products.actual == 0) return 1;
  if (products.expected == 0 || products.actual == 0) return 0;
  return std::clamp(products.mixed / std::sqrt(products.expected) / std::sqrt(products.actual), 0.0, 1.0);
}

double DefaultAgreement(const Sample& expected, const Sample& actual) {
  return IsClassifier(expected) ? TopOneAgreement(expected, actual) : ErrorAgreement(expected, actual);
}

double LikelyTopOneAgreement(const Sample& expected, const Sample& actual) {
  if (!HaveOneShape(expected, actual) || expected[0].rank() == 0) return 0;
  const int64_t classes = expected[0].shape().back(), elements = expected[0].num_elements();
  double sum = 0;
  for (int64_t begin = 0; begin < elements; begin += classes)
    sum += LikelihoodOf(expected[0], actual[0], begin, classes);
  return sum * static_cast<double>(classes) / static_cast<double>(elements);
}

Criterion DefaultCriterion() { return {DefaultAgreement, DefaultEstimate}; }

std::optional<Criterion> FindCriterion(std::string_view name) {
  const auto* found = std::ranges::find(kCriteria, name, &NamedCriterion::name);
  return found == std::end(kCriteria) ? std::nullopt
                                      : std::optional<Criterion>({found->value, found->estimate});
}

}  // namespace attune::quant
