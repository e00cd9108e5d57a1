// Trees that XGBoost has learned, out of what it writes.
#ifndef ATTUNE_TUNE_COST_MODEL_XGBOOST_TREES_H_
#define ATTUNE_TUNE_COST_MODEL_XGBOOST_TREES_H_

#include <string_view>

#include "absl/status/status.h"
#include "tune/cost_model/tree_ensemble.h"

namespace attune {

// Adds the trees of a model that XGBoosterSaveModelToBuffer() has just written in this process as "ubj",
// whose floats are the bits that it predicts with. Of a model of one target, without categories and with
// base_score = 0 the trees, on finite features, then score exactly as XGBoost does: it starts from a row's
// base_margin or else base_score, adds a leaf a tree in floats, and goes left where a feature is less than a
// split's condition. (Where a split sends a missing feature does not matter, as none is missing.) Fails where
// this XGBoost writes its models otherwise.
absl::Status AddXgboostTrees(std::string_view model, TreeEnsembleBuilder& builder);

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_XGBOOST_TREES_H_
