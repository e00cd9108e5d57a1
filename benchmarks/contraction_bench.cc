// How much of a core's peak sums of products reach that no strategy is made for:
//
//   contraction_bench [SEED [COUNT [STRATEGY]]]
//
// makes COUNT random ones (200), of f32: convolutions of one to three dimensions with any groups, strides,
// dilations and padding, in plain layouts; batches of matrix products, either operand transposed or not; and
// sums of the product of two tensors of up to seven axes. Sums have at least 16 terms, there are a
// million multiply-adds at least, and an element takes part in 16 or more of them on average, since memory
// bounds what does so in fewer; no extent is a multiple of anything on purpose. Prints each as a graph with
// its strategy ("contraction", or the one given) and its share of the peak, the worst first, and the
// geometric mean. One thread; constants are packed ahead of time.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "base/status.h"
#include "device/host.h"
#include "device/peaks.h"
#include "graph/text.h"
#include "kernel_timer.h"
#include "lower/strategy.h"
#include "target/target.h"

namespace attune {
namespace {

using Sizes = std::vector<int64_t>;

constexpr double kLeastMultiplyAdds = 1e6, kMostMultiplyAdds = 5e7;
constexpr int64_t kLeastTerms = 16, kLeastUses = 16;

struct Case {
  std::string text;
  double multiply_adds;
  int64_t terms;
  double elements;  // of the larger operand

  bool IsFit() const {
    return terms >= kLeastTerms && multiply_adds >= kLeastMultiplyAdds &&
           multiply_adds <= kMostMultiplyAdds && multiply_adds >= kLeastUses * elements;
  }
};

std::string Type(const Sizes& sizes) { return absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]"); }
std::string List(const Sizes& sizes) { return absl::StrCat("[", absl::StrJoin(sizes, ", "), "]"); }

double Product(const Sizes& sizes) {
  double product = 1;
  for (const int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

std::string Text(const Sizes& x, const Sizes& w, const std::string& body) {
  return absl::StrCat("graph @g(%x: ", Type(x), ", %w: ", Type(w), ") {\n", body, "  return \"y\": %y\n}\n");
}

Case RandomConv(Random& random) {
  const int64_t rank = random.Integer(1, 3), group = random.Integer(0, 1) * random.Integer(1, 12) + 1;
  const int64_t in = random.Integer(1, group == 1 ? 70 : 12), out = random.Integer(1, group == 1 ? 70 : 12);
  Sizes x = {random.Integer(1, 2), in * group}, w = {out * group, in}, y = {x[0], w[0]};
  Sizes strides, dilations, before, after;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t kernel = random.Integer(1, 5), longest = rank == 1 ? 900 : rank == 2 ? 90 : 30;
    strides.push_back(random.Integer(0, 3) == 0 ? 2 : 1);
    dilations.push_back(random.Integer(0, 4) == 0 ? random.Integer(2, 3) : 1);
    before.push_back(random.Integer(0, kernel / 2));
    after.push_back(random.Integer(0, kernel / 2));
    const int64_t reach = (kernel - 1) * dilations.back() + 1;
    const int64_t size = random.Integer(reach, reach + longest);
    x.push_back(size);
    w.push_back(kernel);
    y.push_back((size + before.back() + after.back() - reach) / strides.back() + 1);
  }
  Sizes pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  const int64_t terms = static_cast<int64_t>(Product(w)) / w[0];
  return {
      Text(x, w,
           absl::StrCat("  %y = conv(%x, %w) {strides = ", List(strides), ", dilations = ", List(dilations),
                        ", pads = ", List(pads), ", group = ", group, "} : ", Type(y), "\n")),
      Product(y) * static_cast<double>(terms), terms, std::max(Product(x), Product(w))};
}

Case RandomMatMul(Random& random) {
  const int64_t batch = random.Integer(1, 12), m = random.Integer(1, 300), n = random.Integer(1, 300),
                k = random.Integer(kLeastTerms, 600);
  const int64_t transpose_a = random.Integer(0, 1), transpose_b = random.Integer(0, 1);
  const Sizes x = {batch, transpose_a != 0 ? k : m, transpose_a != 0 ? m : k},
              w = {random.Integer(0, 1) == 0 ? 1 : batch, transpose_b != 0 ? n : k, transpose_b != 0 ? k : n};
  return {Text(x, w,
               absl::StrCat("  %y = matmul(%x, %w) {transpose_a = ", transpose_a,
                            ", transpose_b = ", transpose_b, "} : ", Type({batch, m, n}), "\n")),
          static_cast<double>(batch * m * n * k), k, std::max(Product(x), Product(w))};
}

// Each axis belongs to both tensors, to one of them, or is summed along.
Case RandomSum(Random& random) {
  const int64_t rank = random.Integer(3, 7);
  Sizes x, w, both, y, summed;
  int64_t terms = 1;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t size = random.Integer(2, rank > 5 ? 14 : rank > 4 ? 30 : rank > 3 ? 60 : 250);
    const int64_t kind = random.Integer(0, 9);  // 0: of both; 1 to 3, 4 to 6: of one; else summed
    both.push_back(size);
    x.push_back(kind >= 4 && kind <= 6 ? 1 : size);
    w.push_back(kind >= 1 && kind <= 3 ? 1 : size);
    if (kind > 6) {
      summed.push_back(d);
      terms *= size;
    } else {
      y.push_back(size);
    }
  }
  return {Text(x, w,
               absl::StrCat("  %m = mul(%x, %w) : ", Type(both), "\n  %y = reduce_sum(%m) {axes = ",
                            List(summed), ", keepdims = 0} : ", Type(y), "\n")),
          Product(both), terms, std::max(Product(x), Product(w))};
}

Case RandomCase(Random& random) {
  while (true) {
    const int64_t kind = random.Integer(0, 9);
    Case drawn = kind < 4 ? RandomConv(random) : kind < 6 ? RandomMatMul(random) : RandomSum(random);
    if (drawn.IsFit()) return drawn;
  }
}

struct Result {
  double share;
  std::string text;
};

absl::StatusOr<Result> Measure(const Case& what, const Strategy& strategy, const Target& target) {
  ASSIGN_OR_RETURN(const std::unique_ptr<attune::Graph> graph, ParseGraph(what.text));
  ASSIGN_OR_RETURN(Workload workload, AnalyzeGroup(*graph, "group"));
  if (const std::string reason = strategy.why_not(workload, target); !reason.empty())
    return InvalidInput(strategy.name, " does not apply: ", reason);
  Config config = strategy.analytic_default(workload, target);
  ASSIGN_OR_RETURN(const ScheduledGroup group,
                   ScheduleBy(strategy, std::move(workload), std::move(config), target));
  ASSIGN_OR_RETURN(const TimedKernel kernel, TimedKernel::Compile(group, target));
  const double share =
      2 * what.multiply_adds / kernel.BestSeconds(0.1) / (MeasurePeaks(1).gflops_per_core * 1e9);
  return Result{share, absl::StrCat(what.text, "  ", ToString(strategy.name, group.config))};
}

absl::Status Run(uint64_t seed, int count, const std::string& name) {
  const Strategy* strategy = FindStrategy(name);
  if (strategy == nullptr) return InvalidInput("no strategy ", name);
  ASSIGN_OR_RETURN(const Target target, HostTarget());
  Random random(seed);
  std::vector<Result> results;
  for (int i = 0; i < count; ++i) {
    const Case what = RandomCase(random);
    absl::StatusOr<Result> result = Measure(what, *strategy, target);
    if (!result.ok()) return Annotate(result.status(), what.text);
    results.push_back(*std::move(result));
  }
  std::ranges::sort(results, {}, &Result::share);
  double logarithms = 0;
  for (const Result& result : results) {
    std::printf("%5.1f %% of the peak: %s\n", 100 * result.share, result.text.c_str());
    logarithms += std::log(result.share);
  }
  const auto below = std::ranges::count_if(results, [](const Result& r) { return r.share < 0.25; });
  std::printf("%d contractions: geometric mean %.1f %% of %.0f GFLOP/s, %d below 25 %%\n", count,
              100 * std::exp(logarithms / count), MeasurePeaks(1).gflops_per_core, static_cast<int>(below));
  return absl::OkStatus();
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  const absl::Status status =
      attune::Run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1, argc > 2 ? std::atoi(argv[2]) : 200,
                  argc > 3 ? argv[3] : "contraction");
  if (!status.ok()) std::fprintf(stderr, "contraction_bench: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
