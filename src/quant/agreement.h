// Measures how well a quantized network agrees with the original, by their outputs for a sample.
//
// Which difference matters depends on the use of the outputs: for a classifier, only the largest score
// matters, but a detector's boxes move with every number.
#ifndef ATTUNE_QUANT_AGREEMENT_H_
#define ATTUNE_QUANT_AGREEMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "quant/calibration.h"

namespace attune::quant {

// How well the actual outputs for one sample agree with the expected ones, both in order: from 0 (not at
// all) to 1 (entirely).
using Agreement = std::function<double(const Sample& expected, const Sample& actual)>;

// The index of the largest of `size` elements that begin at `begin` and are `stride` apart; of equal ones,
// the first.
int64_t ArgMax(const Tensor& tensor, int64_t begin, int64_t size, int64_t stride);

// "top-1": for the first output, whose last axis has the classes: the share of rows whose largest element
// has the same index.
double TopOneAgreement(const Sample& expected, const Sample& actual);
// "iou": for the first output, a segmentation [batch, rows, columns, classes] or [batch, classes, rows,
// columns], where the shorter of these two axes has the classes: the mean of intersection over union over
// the classes that occur. For a class, this is the share of pixels with that class in both networks, among
// those with it in either.
double OverlapAgreement(const Sample& expected, const Sample& actual);
// "error": 1 minus the root mean square of the differences of all float outputs, relative to that of the
// expected outputs; at least 0.
double ErrorAgreement(const Sample& expected, const Sample& actual);
// "cosine": the cosine of all float outputs together, at least 0; 1 if all are zero or there are none.
double CosineAgreement(const Sample& expected, const Sample& actual);

// top-1 if the only output is [batch, classes], else error.
double DefaultAgreement(const Sample& expected, const Sample& actual);

// The expected TopOneAgreement for samples like this one. Problem: only a few of some hundred samples
// change their class, and if many networks are tried, one of them changes none by chance. Idea: the change
// in the difference between a row's two largest elements could as well have had the other sign, or another
// size. If such changes have a normal distribution, and differences near zero are as frequent as all
// others, the mean of
//   erfc(difference / (√π |change|)) / 2
// is the share of rows where the two elements swap. This uses information from all rows, not only from
// those that swap.
double LikelyTopOneAgreement(const Sample& expected, const Sample& actual);

// How networks are judged: `value` is reported, and decisions are based on `estimate`.
struct Criterion {
  Agreement value, estimate;
};
// DefaultAgreement, and its estimate.
Criterion DefaultCriterion();
// Finds a criterion by one of the names above; nullopt for an unknown name.
std::optional<Criterion> FindCriterion(std::string_view name);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_AGREEMENT_H_
