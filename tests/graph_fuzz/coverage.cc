#include "coverage.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "lower/strategy.h"
#include "recipes.h"

namespace attune::graph_fuzz {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kEnough = 100;  // graphs with each operator and each strategy

bool IsComputed(const Value* value) {
  return value != nullptr && value->producer() != nullptr && value->producer()->op() != Op::kConstant;
}

void CollectOperators(const Graph& graph, std::set<std::string>& operators, std::set<std::string>& pairs) {
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kConstant) continue;
    operators.emplace(OpName(node->op()));
    for (const Value* input : node->inputs()) {
      if (IsComputed(input))
        pairs.insert(absl::StrCat(OpName(input->producer()->op()), " ", OpName(node->op())));
    }
    for (int i = 0; i < node->num_regions(); ++i) CollectOperators(node->region(i), operators, pairs);
  }
}

// Lists "graphs with each operator: …" in the order of `names`, and which of them have too few.
std::string ListCounts(std::string_view what, const std::vector<std::string>& names,
                       const std::map<std::string, int64_t>& counts) {
  std::string text = absl::StrCat("graphs with each ", what, ":"), few;
  for (const std::string& name : names) {
    const auto found = counts.find(name);
    const int64_t count = found == counts.end() ? 0 : found->second;
    absl::StrAppend(&text, " ", name, " ", count);
    if (count < kEnough) absl::StrAppend(&few, " ", name, " ", count);
  }
  absl::StrAppend(&text, "\nfewer than ", kEnough, ":", few.empty() ? " none" : few, "\n");
  return text;
}

Json ToJson(const FuzzRun& run) {
  return {{"seed", run.seed},
          {"graphs", run.graphs},
          {"refused", run.refused},
          {"failed", run.failed},
          {"seconds", run.seconds}};
}

}  // namespace

void Coverage::Add(const Graph& graph, const Verdict& verdict, const std::vector<Setting>& settings) {
  ++sizes_[absl::StrCat(CountNodes(graph))];
  std::set<std::string> operators, pairs;
  CollectOperators(graph, operators, pairs);
  for (const std::string& name : operators) ++operators_[name];
  for (const std::string& pair : pairs) ++pairs_[pair];
  for (const std::string& name : verdict.strategies) ++strategies_[name];
  for (const std::string& name : verdict.instructions) ++instructions_[name];
  for (const Setting& setting : settings) ++processors_[setting.cpu];
  if (verdict.failure == Failure::kRefused)
    ++refusals_[verdict.message.substr(0, verdict.message.find('\n'))];
}

void Coverage::Add(const Coverage& other) {
  runs_.insert(runs_.end(), other.runs_.begin(), other.runs_.end());
  std::map<std::string_view, const Counts*> others;
  ForEach(other, [&](std::string_view kind, const Counts& counts) { others[kind] = &counts; });
  ForEach(*this, [&](std::string_view kind, Counts& counts) {
    for (const auto& [name, count] : *others.at(kind)) counts[name] += count;
  });
}

uint64_t Coverage::NextSeed() const {
  uint64_t next = 1;
  for (const FuzzRun& run : runs_) next = std::max(next, run.seed + static_cast<uint64_t>(run.graphs));
  return next;
}

std::string Coverage::ToJson() const {
  Json json = {{"runs", Json::array()}};
  for (const FuzzRun& run : runs_) json["runs"].push_back(graph_fuzz::ToJson(run));
  ForEach(*this, [&](const char* kind, const Counts& counts) { json[kind] = counts; });
  return json.dump(1) + "\n";
}

absl::StatusOr<Coverage> Coverage::FromJson(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return InvalidInput("no coverage of random graphs");
  Coverage coverage;
  for (const Json& run : json.value("runs", Json::array())) {
    coverage.Add(FuzzRun{.seed = run.value("seed", uint64_t{0}),
                         .graphs = run.value("graphs", int64_t{0}),
                         .refused = run.value("refused", int64_t{0}),
                         .failed = run.value("failed", int64_t{0}),
                         .seconds = run.value("seconds", int64_t{0})});
  }
  ForEach(coverage, [&](const char* kind, Counts& counts) { counts = json.value(kind, Counts()); });
  return coverage;
}

std::string Coverage::ToString() const {
  std::vector<int64_t> sizes;
  int64_t nodes = 0;
  for (const auto& [size, graphs] : sizes_) {
    sizes.insert(sizes.end(), static_cast<size_t>(graphs), std::stoll(size));
    nodes += graphs * std::stoll(size);
  }
  std::ranges::sort(sizes);
  std::string text = absl::StrCat(sizes.size(), " graphs, ", nodes, " nodes");
  if (!sizes.empty())
    absl::StrAppend(&text, " (median ", sizes[sizes.size() / 2], ", at most ", sizes.back(), ")");
  absl::StrAppend(&text, ", ", operators_.size(), " of ", Recipes().size(), " operators, ", pairs_.size(),
                  " pairs of them\n");
  std::vector<std::string> operators, strategies;
  for (const Recipe& recipe : Recipes()) operators.emplace_back(OpName(recipe.op));
  for (const Strategy& strategy : AllStrategies()) strategies.emplace_back(strategy.name);
  text += ListCounts("operator", operators, operators_);
  text += ListCounts("strategy", strategies, strategies_);
  absl::StrAppend(&text, "graphs with code of each set of instructions:");
  for (const auto& [name, count] : instructions_) absl::StrAppend(&text, " ", name, " ", count);
  absl::StrAppend(&text, "\nprograms for each processor:");
  for (const auto& [name, count] : processors_) absl::StrAppend(&text, " ", name, " ", count);
  text += "\n";
  for (const auto& [reason, count] : refusals_) absl::StrAppend(&text, "refused ", count, ": ", reason, "\n");
  for (const FuzzRun& run : runs_)
    absl::StrAppend(&text, "seeds ", run.seed, " to ", run.seed + static_cast<uint64_t>(run.graphs) - 1, ": ",
                    run.refused, " refused, ", run.failed, " failed, ", run.seconds, " s\n");
  return text;
}

}  // namespace attune::graph_fuzz
