#include "facts.h"

#include <cstddef>
#include <map>

#include "absl/strings/str_cat.h"

namespace attune::graph_fuzz {

std::string ZeroFactName(int n) { return absl::StrCat("zero", n); }

std::pair<std::string, std::string> SameFactNames(int n) {
  return {absl::StrCat("same", n, "a"), absl::StrCat("same", n, "b")};
}

std::string BrokenFact(const Graph& graph, const std::vector<Tensor>& outputs) {
  std::map<std::string, const Tensor*> first;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = graph.outputs()[i].name;
    if (name.starts_with("zero")) {
      for (int64_t k = 0; k < outputs[i].num_elements(); ++k) {
        if (outputs[i].ToDouble(k) != 0)
          return absl::StrCat(name, "[", k, "] is ", outputs[i].ToDouble(k), ", not 0");
      }
    }
    if (!name.starts_with("same")) continue;
    const std::string fact = name.substr(0, name.size() - 1);
    const auto [other, is_new] = first.emplace(fact, &outputs[i]);
    if (!is_new && !other->second->Identical(outputs[i])) return absl::StrCat(fact, ": a and b differ");
  }
  return "";
}

}  // namespace attune::graph_fuzz
