#include "cli/contractions_view.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"

namespace attune {
namespace {

// Contractions with a smaller share of the multiply-adds are counted but not named.
constexpr double kLeastShare = 1e-3;
constexpr size_t kMostNamed = 3;

double ShareOf(const PlannedContraction& contraction, const SlowContractions& count) {
  return static_cast<double>(contraction.multiply_adds) / static_cast<double>(count.multiply_adds);
}

std::string Percent(double share) { return absl::StrFormat("%.1f %%", share * 100); }

// The slow contractions, the largest first.
std::vector<PlannedContraction> SlowOf(std::vector<PlannedContraction> contractions) {
  std::erase_if(contractions, [](const PlannedContraction& c) { return !c.is_slow(); });
  std::ranges::sort(contractions, [](const PlannedContraction& a, const PlannedContraction& b) {
    return std::tie(b.multiply_adds, a.label) < std::tie(a.multiply_adds, b.label);
  });
  return contractions;
}

// Shortens the label, which names all nodes that were merged into the contraction.
std::string ShortLabel(const PlannedContraction& contraction) {
  constexpr size_t kMaxWidth = 48;
  std::string text = WithoutControls(contraction.label);
  if (text.size() > kMaxWidth) text = text.substr(0, kMaxWidth - 3) + "...";
  return text;
}

// Names grouped by reason, in the order in which the reasons first appear.
using NamesByReason = std::vector<std::pair<std::string, std::vector<std::string>>>;

void Append(NamesByReason& names, const std::string& reason, const std::string& name) {
  auto it = std::ranges::find(names, reason, &NamesByReason::value_type::first);
  if (it == names.end()) it = names.insert(it, {reason, {}});
  it->second.push_back(name);
}

Json RefusalsJson(const PlannedContraction& contraction) {
  Json refusals = Json::array();
  for (const Refusal& refusal : contraction.refusals)
    refusals.push_back({{"strategy", refusal.strategy}, {"reason", refusal.reason}});
  return refusals;
}

}  // namespace

Json ToJson(const std::vector<PlannedContraction>& contractions) {
  const SlowContractions count = CountSlow(contractions);
  Json json = Json::array();
  for (const PlannedContraction& c : contractions) {
    json.push_back({{"label", c.label},
                    {"contraction", c.op},
                    {"op", c.operators},
                    {"strategy", c.strategy},
                    {"multiply_adds", c.multiply_adds},
                    {"share", ShareOf(c, count)},
                    {"slow", c.is_slow()},
                    {"reason", c.why_slow},
                    {"refusals", RefusalsJson(c)}});
  }
  return json;
}

std::string DescribeSlow(const std::vector<PlannedContraction>& contractions) {
  const SlowContractions count = CountSlow(contractions);
  if (count.slow == 0) return "";
  NamesByReason named;
  size_t others = 0, names = 0;
  for (const PlannedContraction& c : SlowOf(contractions)) {
    if (ShareOf(c, count) < kLeastShare) continue;
    if (names++ < kMostNamed) {
      Append(named, c.why_slow, ShortLabel(c));
    } else {
      ++others;
    }
  }
  std::string text = absl::StrFormat("%d of %d contractions use the plain loops, %s of the multiply-adds",
                                     count.slow, count.all, Percent(count.share));
  const char* separator = ": ";
  for (const auto& [reason, nodes] : named) {
    absl::StrAppend(&text, separator, absl::StrJoin(nodes, ", "), " (", reason, ")");
    separator = ", ";
  }
  if (others > 0) absl::StrAppend(&text, ", and ", others, " more");
  return text;
}

Json SlowJson(const std::vector<PlannedContraction>& contractions) {
  const SlowContractions count = CountSlow(contractions);
  Json list = Json::array();
  for (const PlannedContraction& c : SlowOf(contractions)) {
    list.push_back({{"label", c.label},
                    {"contraction", c.op},
                    {"op", c.operators},
                    {"multiply_adds", c.multiply_adds},
                    {"share", ShareOf(c, count)},
                    {"reason", c.why_slow}});
  }
  return {{"count", count.slow}, {"of", count.all}, {"share", count.share}, {"list", std::move(list)}};
}

std::string ContractionTables(const std::vector<PlannedContraction>& contractions) {
  const SlowContractions count = CountSlow(contractions);
  std::vector<std::vector<std::string>> all = {{"MMAC", "share", "operator", "strategy", "nodes"}};
  for (const PlannedContraction& c : contractions) {
    all.push_back({absl::StrFormat("%.3f", static_cast<double>(c.multiply_adds) * 1e-6),
                   Percent(ShareOf(c, count)), c.operators, c.strategy, c.label});
  }
  std::string text = FormatTable(all, {true, true, false, false, false});
  if (count.slow == 0) return text;
  absl::StrAppend(&text, "\n", DescribeSlow(contractions), "\n\n");
  std::vector<std::vector<std::string>> reasons = {{"nodes", "strategies", "do not apply because"}};
  for (const PlannedContraction& c : SlowOf(contractions)) {
    NamesByReason strategies;
    for (const Refusal& refusal : c.refusals) Append(strategies, refusal.reason, refusal.strategy);
    std::string label = c.label;
    for (const auto& [reason, names] : strategies) {
      reasons.push_back({std::exchange(label, ""), absl::StrJoin(names, ", "), reason});
    }
  }
  absl::StrAppend(&text, FormatTable(reasons, {false, false, false}));
  return text;
}

}  // namespace attune
