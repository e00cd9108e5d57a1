// A small deterministic random number generator: the same seed gives the same numbers on every machine.
#ifndef ATTUNE_BASE_RANDOM_H_
#define ATTUNE_BASE_RANDOM_H_

#include <cmath>
#include <cstdint>
#include <numbers>

namespace attune {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

  // Uniform integer in [low, high], low <= high.
  int64_t Integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Next() % (static_cast<uint64_t>(high - low) + 1));
  }

  // Standard normal, by Box and Muller's transform.
  double Normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * Uniform());
  }

 private:
  uint64_t state_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_RANDOM_H_
