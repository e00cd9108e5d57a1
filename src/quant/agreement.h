// How far a quantized network is still the one that it was made from, by what it gives for a sample.
//
// Which difference matters depends on what the outputs are for: a classifier may differ in everything but the
// largest score, and a detector's boxes move with every number.
#ifndef ATTUNE_QUANT_AGREEMENT_H_
#define ATTUNE_QUANT_AGREEMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "quant/calibration.h"

namespace attune::quant {

// How well the actual outputs of one sample agree with the expected ones, both in order: 1 entirely, 0 not at
// all.
using Agreement = std::function<double(const Sample& expected, const Sample& actual)>;

// The index of the largest of `size` elements that begin at `begin` and lie `stride` apart; the
// first of several.
int64_t ArgMax(const Tensor& tensor, int64_t begin, int64_t size, int64_t stride);

// "top-1": of the first output, whose last axis has the classes: the share of rows whose largest element is
// at the same index.
double TopOneAgreement(const Sample& expected, const Sample& actual);
// "iou", of the first output, a segmentation [batch, rows, columns, classes] or [batch, classes, rows,
// columns], the classes being the shorter of those two axes: the mean, over the classes that occur, of
// intersection over union: how many of the pixels to which either network gives the class have it by both.
double OverlapAgreement(const Sample& expected, const Sample& actual);
// "error": 1 less the root mean square of the differences of all float outputs, as a share of the expected
// outputs' own; at least 0.
double ErrorAgreement(const Sample& expected, const Sample& actual);
// "cosine": of all float outputs together, at least 0; 1 where all are zero or there are none.
double CosineAgreement(const Sample& expected, const Sample& actual);

// top-1 where the only output is [batch, classes], else error.
double DefaultAgreement(const Sample& expected, const Sample& actual);

// The TopOneAgreement that is to be expected for samples like this one. Problem: a few of some hundred
// samples change their class, and if many networks are tried, none does by one of them, by chance. Idea: the
// change of the difference between a row's two largest elements could have the other sign as well, and
// another size. Where such changes are normal, and differences near zero as frequent as all others, the mean
// of
//   erfc(difference / (√π |change|)) / 2
// is the share of rows where the two change places. All rows say something then, not those alone that do so.
double LikelyTopOneAgreement(const Sample& expected, const Sample& actual);

// How networks are judged: `value` is reported, and choices are made by `estimate`.
struct Criterion {
  Agreement value, estimate;
};
// DefaultAgreement, and what is to be expected of it.
Criterion DefaultCriterion();
// By the names above; nothing where there is none of that name.
std::optional<Criterion> FindCriterion(std::string_view name);
std::vector<std::string_view> AgreementNames();

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_AGREEMENT_H_
