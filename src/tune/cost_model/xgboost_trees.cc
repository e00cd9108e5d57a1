#include "tune/cost_model/xgboost_trees.h"

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "nlohmann/json.hpp"

namespace attune {
namespace {

using Json = nlohmann::json;

// A tree's arrays have one element per node. A leaf has no children, and its condition is its score.
absl::Status AddTree(const Json& tree, TreeEnsembleBuilder& builder) {
  const Json &left = tree.at("left_children"), &right = tree.at("right_children");
  const Json &features = tree.at("split_indices"), &conditions = tree.at("split_conditions");
  std::vector<int> open = {0};  // remaining subtrees, the next one last
  while (!open.empty()) {
    const auto node = static_cast<size_t>(open.back());
    open.pop_back();
    const auto condition = conditions.at(node).get<float>();
    if (left.at(node) == -1) {
      RETURN_IF_ERROR(builder.AddLeaf(condition));
    } else {
      RETURN_IF_ERROR(builder.AddSplit(features.at(node).get<int>(), condition));
      open.push_back(right.at(node).get<int>());
      open.push_back(left.at(node).get<int>());
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddXgboostTrees(std::string_view model, TreeEnsembleBuilder& builder) {
  try {
    const Json json = Json::from_ubjson(model);
    for (const Json& tree : json.at("learner").at("gradient_booster").at("model").at("trees"))
      RETURN_IF_ERROR(AddTree(tree, builder));
  } catch (const Json::exception& error) {
    return InternalError("this version of XGBoost writes its trees otherwise: ", error.what());
  }
  return absl::OkStatus();
}

}  // namespace attune
