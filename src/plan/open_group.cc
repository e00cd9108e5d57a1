#include "plan/open_group.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/log.h"
#include "base/status.h"
#include "lower/open_definition.h"

namespace attune {
namespace {

// The numbers that dimensions have, by point, without those that are constant.
std::set<SizePoint> OpenNumbers(const std::vector<const Graph*>& regions) {
  std::vector<std::vector<int64_t>> dims;  // of all values, by region
  for (const Graph* region : regions) {
    std::vector<int64_t>& own = dims.emplace_back();
    const auto add = [&own](const Value& value) {
      for (const Dim& dim : value.type().dims) own.push_back(dim.size);
    };
    for (const auto& input : region->inputs()) add(*input);
    for (const auto& node : region->nodes()) {
      for (int i = 0; i < node->num_outputs(); ++i) add(*node->output(i));
    }
  }
  std::set<SizePoint> numbers;
  for (size_t d = 0; d < dims[0].size(); ++d) {
    SizePoint number;
    for (const std::vector<int64_t>& own : dims) number.push_back(own[d]);
    if (std::ranges::any_of(number, [&](int64_t value) { return value != number[0]; }))
      numbers.insert(std::move(number));
  }
  return numbers;
}

struct Number {
  SizePoint values;  // by point
  SizeExpr size;
};

std::set<int> DimsOf(const SizeExpr& size) {
  std::set<int> dims;
  for (const auto& [monomial, coefficient] : size.terms()) {
    for (const SizeAtom& atom : monomial) dims.insert(atom.dim);
  }
  return dims;
}

std::optional<SizeExpr> ProductOfTwo(const SizePoint& values, const std::vector<Number>& known) {
  for (const Number& a : known) {
    for (const Number& b : known) {
      bool is_product = true;
      for (size_t p = 0; p < values.size(); ++p) is_product &= values[p] == a.values[p] * b.values[p];
      if (is_product) return a.size * b.size;
    }
  }
  return std::nullopt;
}

// The same number without the factor that all its values have.
Number WithoutFactor(Number number) {
  int64_t factor = 0;
  for (const auto& [monomial, coefficient] : number.size.terms()) factor = std::gcd(factor, coefficient);
  if (factor <= 1) return number;
  SizeExpr size;
  for (const auto& [monomial, coefficient] : number.size.terms()) {
    SizeExpr term(coefficient / factor);
    for (const SizeAtom& atom : monomial) term = term * SizeExpr::Of(atom);
    size += term;
  }
  number.size = std::move(size);
  for (int64_t& value : number.values) value /= factor;
  return number;
}

// Replays the schedule of one strategy, but for what only saves time: a kernel is right with the guards that
// overcomputing would drop, and with a stage that is computed by itself.
absl::StatusOr<ScheduledGroup> ReplayOn(const ComputeDef& open, const Strategy& strategy,
                                        const Config& config, const Workload& workload,
                                        const Target& target) {
  if (strategy.define != nullptr)
    return NotSupported(strategy.name, ": its algorithm is made for constant sizes");
  ASSIGN_OR_RETURN(ScheduledGroup group, ScheduleBy(strategy, workload, config, target));
  constexpr std::string_view kSavesTime[] = {"overcompute", "compute_after"};
  ASSIGN_OR_RETURN(group.schedule, Schedule::Replay(open, group.schedule.trace(), kSavesTime));
  ASSIGN_OR_RETURN(const LoopNest nest, group.schedule.Lower());
  RETURN_IF_ERROR(VerifyLoopNest(nest));
  return group;
}

}  // namespace

absl::StatusOr<GroupSizes> SizesOfGroup(const std::vector<const Graph*>& regions,
                                        const std::vector<const Graph*>& flat, const Witnesses& witnesses) {
  std::vector<Number> known;
  for (const SizePoint& values : OpenNumbers(regions)) {
    if (const auto size = FitSize(values, witnesses.points())) known.push_back({values, *size});
  }
  std::vector<Number> numbers;
  for (const SizePoint& values : OpenNumbers(flat)) {
    std::optional<SizeExpr> size = FitSize(values, witnesses.points());
    if (!size.has_value()) size = ProductOfTwo(values, known);
    if (!size.has_value()) {
      return NotSupported("with open sizes, a dimension of ", values[0], " and ", values[1],
                          " follows no expression of them");
    }
    numbers.push_back(WithoutFactor({values, *size}));
  }
  // The width that a convolution reads comes before the one that it writes, which is rounded down from that.
  std::ranges::sort(numbers, {}, [](const Number& number) {
    return std::tuple(number.size.terms().size(), number.size.terms().rbegin()->first.size(),
                      -number.values[0]);
  });

  GroupSizes sizes;
  sizes.points.resize(witnesses.points().size());
  SizePoint least, most;
  for (const OpenDim& dim : witnesses.dims()) {
    least.push_back(dim.min);
    most.push_back(dim.max);
  }
  std::set<int> mentioned;  // dimensions of the network that the sizes tell of
  for (const Number& number : numbers) {
    const bool is_known =
        std::ranges::all_of(DimsOf(number.size), [&](int dim) { return mentioned.contains(dim); });
    if (is_known && FitSize(number.values, sizes.points).has_value()) continue;
    mentioned.merge(DimsOf(number.size));
    // Sizes grow with each dimension that they have.
    sizes.dims.push_back({.name = absl::StrCat("n", sizes.dims.size()),
                          .min = std::max<int64_t>(number.size.At(least).value_or(0), 0),
                          .max = number.size.At(most).value_or(Interval::kHigh),
                          .likely = number.values[0]});
    for (size_t p = 0; p < sizes.points.size(); ++p) sizes.points[p].push_back(number.values[p]);
    sizes.arguments.push_back(ToExpr(number.size, witnesses.sizes()));
  }
  return sizes;
}

absl::StatusOr<OpenGroup> ScheduleOpenGroup(const std::vector<const Graph*>& regions,
                                            const GroupIdentity& identity, const GroupSizes& sizes,
                                            const Target& target, const KernelChooser& chooser) {
  std::vector<ComputeDef> definitions;
  std::optional<Workload> workload;
  for (const Graph* region : regions) {
    ASSIGN_OR_RETURN(Workload one, AnalyzeGroup(*region, identity.name));
    definitions.push_back(one.definition);
    if (!workload.has_value()) workload = std::move(one);
  }
  ASSIGN_OR_RETURN(ComputeDef open, OpenDefinition(definitions, sizes.points, sizes.dims));
  ASSIGN_OR_RETURN(KernelChoice choice, chooser.Choose(*workload, identity.key, target));
  const Strategy& general = AllStrategies().back();
  KernelChoice general_choice = {.strategy = &general, .config = general.analytic_default(*workload, target)};
  const Node* anchor = workload->anchor;
  const bool has_product = anchor != nullptr && GetOpInfo(anchor->op()).category == OpCategory::kContraction;
  std::string why_slow;
  for (KernelChoice* tried : {&choice, &general_choice}) {
    absl::StatusOr<ScheduledGroup> group = ReplayOn(open, *tried->strategy, tried->config, *workload, target);
    if (group.ok()) return OpenGroup{std::move(*tried), std::move(why_slow), *std::move(group)};
    if (has_product && why_slow.empty()) why_slow = group.status().message();
    Log(LogLevel::kDebug, "not replayed with open sizes", "kernel", identity.name, "strategy",
        tried->strategy->name, "why", group.status().message());
  }
  return OpenGroup{general_choice, std::move(why_slow),
                   ScheduledGroup{*std::move(workload), &general, general_choice.config, Schedule(open)}};
}

}  // namespace attune
