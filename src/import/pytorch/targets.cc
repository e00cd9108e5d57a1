#include "import/pytorch/targets.h"

#include <map>
#include <string>

namespace attune::pytorch {
namespace {

const Row* Find(std::string_view name) {
  static const auto* index = [] {
    auto* rows = new std::map<std::string_view, const Row*>;
    for (const Row& row : Rows()) rows->emplace(row.name, &row);
    return rows;
  }();
  const auto it = index->find(name);
  return it != index->end() ? it->second : nullptr;
}

// "aten.relu_" is "aten.relu" in place; "aten.__and__" is not.
bool IsInPlace(std::string_view name) {
  return name.starts_with("aten.") && name.ends_with('_') && !name.ends_with("__");
}

}  // namespace

Target FindTarget(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  if (target.starts_with(kPrefix)) target.remove_prefix(kPrefix.size());
  if (const Row* row = Find(target)) return {row, false};
  // For PyTorch's operators, the overload follows the last dot.
  const size_t dot = target.rfind('.');
  if (!target.starts_with("aten.") || dot == std::string_view::npos || dot <= 4) return {};
  std::string name(target.substr(0, dot));
  const std::string overload(target.substr(dot));
  if (overload == ".out") return {};
  const bool in_place = IsInPlace(name);
  if (in_place) name.pop_back();
  const Row* row = Find(name + overload);
  if (row == nullptr) row = Find(name);
  // These rows are wrong for in-place operators that change the shape of a tensor.
  if (row == nullptr || (in_place && row->memory == Memory::kView)) return {};
  return {row, in_place};
}

}  // namespace attune::pytorch
