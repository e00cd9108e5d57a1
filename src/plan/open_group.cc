#include "plan/open_group.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

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

// Replays the schedule of one strategy.
absl::StatusOr<ScheduledGroup> ReplayOn(const ComputeDef& open, const Strategy& strategy,
                                        const Config& config, const Workload& workload,
                                        const Target& target) {
  if (strategy.define != nullptr)
    return NotSupported(strategy.name, ": its algorithm is made for constant sizes");
  ASSIGN_OR_RETURN(ScheduledGroup group, ScheduleBy(strategy, workload, config, target));
  ASSIGN_OR_RETURN(group.schedule, Schedule::Replay(open, group.schedule.trace()));
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
  std::set<int> alone;  // dimensions of the network that a value has as they are
  for (const SizePoint& values : OpenNumbers(flat)) {
    std::optional<SizeExpr> size = FitSize(values, witnesses.points());
    if (!size.has_value()) size = ProductOfTwo(values, known);
    if (!size.has_value()) {
      return NotSupported("with open sizes, a dimension of ", values[0], " and ", values[1],
                          " follows no expression of them");
    }
    numbers.push_back({values, *size});
    for (int dim = 0; dim < static_cast<int>(witnesses.dims().size()); ++dim) {
      if (*size == SizeExpr::Of({dim})) alone.insert(dim);
    }
  }
  std::erase_if(numbers, [&](const Number& number) {
    for (int dim = 0; dim < static_cast<int>(witnesses.dims().size()); ++dim) {
      if (number.size.Mentions(dim) && !alone.contains(dim)) return false;
    }
    return !std::ranges::any_of(alone, [&](int dim) { return number.size == SizeExpr::Of({dim}); });
  });

  GroupSizes sizes;
  sizes.points.resize(witnesses.points().size());
  SizePoint least, most;
  for (const OpenDim& dim : witnesses.dims()) {
    least.push_back(dim.min);
    most.push_back(dim.max);
  }
  for (const Number& number : numbers) {
    // Sizes grow with each dimension that they have.
    sizes.dims.push_back({.name = absl::StrCat("n", sizes.dims.size()),
                          .min = std::max<int64_t>(number.size.At(least).value_or(0), 0),
                          .max = number.size.At(most).value_or(kMostOpenSize),
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
  for (KernelChoice* tried : {&choice, &general_choice}) {
    absl::StatusOr<ScheduledGroup> group = ReplayOn(open, *tried->strategy, tried->config, *workload, target);
    if (group.ok()) return OpenGroup{std::move(*tried), *std::move(group)};
  }
  return OpenGroup{general_choice,
                   ScheduledGroup{*std::move(workload), &general, general_choice.config, Schedule(open)}};
}

}  // namespace attune
