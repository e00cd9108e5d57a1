#include "tune/job/part_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace attune {
namespace {

struct Piece {
  size_t task = 0;
  Slice slice;
  double weight = 0;
};

double WeightOf(std::span<const double> weights, const PartShare& share) {
  double weight = 0;
  for (size_t task = 0; task < share.size(); ++task)
    if (share[task]) weight += weights[task] / share[task]->count;
  return weight;
}

}  // namespace

std::vector<double> SearchWeights(std::span<const TuningTask> tasks) {
  // The computation that a device does while it reads a byte, roughly. And each task takes a few batches,
  // however small.
  constexpr double kFlopsPerByte = 16, kAlike = 0.25;
  std::vector<double> weights;
  for (const TuningTask& task : tasks)
    weights.push_back(std::max(1, task.uses) * std::max(task.flops, kFlopsPerByte * task.bytes));
  const double sum = std::reduce(weights.begin(), weights.end());
  for (double& weight : weights)
    weight = (sum > 0 ? (1 - kAlike) * weight / sum : 0) + kAlike / static_cast<double>(weights.size());
  return weights;
}

std::vector<PartShare> PlanParts(std::span<const double> weights, int parts) {
  std::vector<PartShare> shares(static_cast<size_t>(std::max(parts, 1)), PartShare(weights.size()));
  const double share = std::reduce(weights.begin(), weights.end()) / static_cast<double>(shares.size());
  std::vector<Piece> pieces;
  for (size_t task = 0; task < weights.size(); ++task) {
    // A task that is a little more than a share is left whole: a slice costs one more baseline.
    constexpr double kTolerance = 1.05;
    const double count = share > 0 ? std::ceil(weights[task] / (kTolerance * share)) : 1;
    const int slices = static_cast<int>(std::clamp(count, 1.0, static_cast<double>(shares.size())));
    for (int i = 0; i < slices; ++i) pieces.push_back({task, {i, slices}, weights[task] / slices});
  }
  std::ranges::sort(pieces, {}, [](const Piece& piece) {
    return std::tuple(-piece.weight, piece.task, piece.slice.index);
  });
  std::vector<double> loads(shares.size());
  for (const Piece& piece : pieces) {
    size_t least = shares.size();
    for (size_t part = 0; part < shares.size(); ++part) {
      if (shares[part][piece.task]) continue;
      if (least == shares.size() || loads[part] < loads[least]) least = part;
    }
    shares[least][piece.task] = piece.slice;
    loads[least] += piece.weight;
  }
  return shares;
}

int64_t TrialsOfPart(int64_t trials, std::span<const double> weights, std::span<const PartShare> shares,
                     int part) {
  const double sum = std::reduce(weights.begin(), weights.end());
  // Rounded at the borders between parts, so that they add up.
  double before = 0;
  for (int i = 0; i < part; ++i) before += WeightOf(weights, shares[static_cast<size_t>(i)]);
  const double after = before + WeightOf(weights, shares[static_cast<size_t>(part)]);
  const auto border = [&](double weight) {
    return sum > 0 ? std::llround(static_cast<double>(trials) * std::min(weight / sum, 1.0)) : 0;
  };
  return std::max<int64_t>(1, border(after) - border(before));
}

}  // namespace attune
