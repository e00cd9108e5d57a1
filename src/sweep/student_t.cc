#include "sweep/student_t.h"

#include <cmath>
#include <numbers>

namespace attune {

double StudentProbability(double t, int degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const bool is_odd = degrees % 2 == 1;
  const double cosine = std::cos(angle);
  double term = is_odd ? cosine : 1, total = 0;
  for (int k = is_odd ? 2 : 1; k < degrees; k += 2) {
    total += term;
    term *= cosine * cosine * k / (k + 1);
  }
  total *= std::sin(angle);
  return is_odd ? 2 / std::numbers::pi * (angle + total) : total;
}

double StudentQuantile(double confidence, int degrees) {
  constexpr double kPrecision = 1e-12;
  double low = 0, high = 1;
  while (StudentProbability(high, degrees) < confidence) {
    low = high;
    high *= 2;
  }
  while (high - low > kPrecision * high) {
    const double middle = (low + high) / 2;
    (StudentProbability(middle, degrees) < confidence ? low : high) = middle;
  }
  return high;
}

}  // namespace attune
