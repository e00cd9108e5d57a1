// Determinants, by Gaussian elimination with partial pivoting.
#include <algorithm>
#include <cmath>

#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

// The determinant of `matrix` [n, n]; overwrites the matrix.
double Determinant(double* matrix, int64_t n) {
  double determinant = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::fabs(matrix[i * n + k]) > std::fabs(matrix[pivot * n + k])) pivot = i;
    }
    if (matrix[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      std::swap_ranges(matrix + k * n, matrix + (k + 1) * n, matrix + pivot * n);
      determinant = -determinant;
    }
    determinant *= matrix[k * n + k];
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = matrix[i * n + k] / matrix[k * n + k];
      for (int64_t j = k; j < n; ++j) matrix[i * n + j] -= factor * matrix[k * n + j];
    }
  }
  return determinant;
}

}  // namespace

Outputs EvaluateDet(const Node&, Inputs inputs) {
  const Tensor& x = inputs[0];
  const Shape shape(x.shape().begin(), x.shape().end() - 2);
  const int64_t n = x.shape().back();
  std::vector<double> values = Load<double>(x);
  std::vector<double> determinants;
  for (int64_t i = 0; i < CountElements(shape); ++i) {
    determinants.push_back(Determinant(values.data() + i * n * n, n));
  }
  return One(Store(determinants, x.dtype(), shape));
}

}  // namespace attune::reference
