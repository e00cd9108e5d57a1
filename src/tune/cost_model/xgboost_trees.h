// Converts XGBoost's trees from the format in which it writes models.
#ifndef ATTUNE_TUNE_COST_MODEL_XGBOOST_TREES_H_
#define ATTUNE_TUNE_COST_MODEL_XGBOOST_TREES_H_

#include <string_view>

#include "absl/status/status.h"
#include "tune/cost_model/tree_ensemble.h"

namespace attune {

// Adds the trees of a model that XGBoosterSaveModelToBuffer() has just written in this process as "ubj", in
// which floats have the exact bits that it predicts with. For a model with one target, without categories
// and with base_score = 0, the trees then score finite features exactly as XGBoost does: it starts from a
// row's base_margin or else base_score, adds one leaf per tree in float, and goes left if a feature is less
// than a split's condition. (Where a split sends a missing feature does not matter, as none is missing.)
// Fails if this version of XGBoost writes its models differently.
absl::Status AddXgboostTrees(std::string_view model, TreeEnsembleBuilder& builder);

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_XGBOOST_TREES_H_
