#include "tune/cost_model/cost_model.h"

#include <xgboost/c_api.h>

#include <cmath>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/fatal.h"
#include "base/status.h"
#include "tune/cost_model/xgboost_trees.h"

namespace attune {
namespace {

struct FreeMatrix {
  void operator()(void* matrix) const { XGDMatrixFree(matrix); }
};
struct FreeBooster {
  void operator()(void* booster) const { XGBoosterFree(booster); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

// The status of an XGBoost call; its messages have a stack trace after the first line.
absl::Status Check(int code, std::string_view doing) {
  if (code == 0) return absl::OkStatus();
  const std::vector<std::string> lines = absl::StrSplit(XGBGetLastError(), '\n');
  return InternalError("cost model: ", doing, ": ", lines.front());
}

// Describes a dense matrix of floats in NumPy's array interface, as XGBoost requires.
std::string ArrayInterface(const std::vector<float>& values, size_t rows, size_t columns) {
  return absl::StrCat(R"({"data":[)", reinterpret_cast<uintptr_t>(values.data()), R"(,true],"shape":[)", rows,
                      ",", columns, R"(],"strides":null,"typestr":"<f4","version":3})");
}

// Fails if a vector has the wrong length or a number is not finite.
absl::Status CheckFeatures(std::span<const FeatureVector> rows, size_t columns) {
  for (const FeatureVector& row : rows) {
    if (row.size() != columns)
      return InvalidInput("cost model: ", row.size(), " features where ", columns, " are expected");
    for (float value : row) {
      if (!std::isfinite(value)) return InvalidInput("cost model: a feature is not finite");
    }
  }
  return absl::OkStatus();
}

// All samples in one table, one task after the other.
struct Table {
  std::vector<float> features, throughput;
  std::vector<float> base_scores;  // empty if there is no base
  std::vector<uint32_t> group_sizes;
};

absl::StatusOr<Table> TableOf(std::span<const TaskSamples> tasks, size_t columns, const TreeEnsemble* base) {
  Table table;
  bool differ = false;
  for (const TaskSamples& task : tasks) {
    if (task.features.size() != task.throughput.size())
      return InvalidInput("cost model: ", task.features.size(), " candidates but ", task.throughput.size(),
                          " throughputs");
    if (task.features.empty()) continue;
    RETURN_IF_ERROR(CheckFeatures(task.features, columns));
    for (float throughput : task.throughput) {
      if (!std::isfinite(throughput) || throughput < 0 || throughput > 1)
        return InvalidInput("cost model: a throughput is ", throughput, ", not in [0, 1]");
      differ |= throughput != task.throughput.front();
    }
    for (const FeatureVector& row : task.features) {
      table.features.insert(table.features.end(), row.begin(), row.end());
      if (base != nullptr) table.base_scores.push_back(base->Predict(row));
    }
    table.throughput.insert(table.throughput.end(), task.throughput.begin(), task.throughput.end());
    table.group_sizes.push_back(static_cast<uint32_t>(task.features.size()));
  }
  if (!differ) return absl::FailedPreconditionError("cost model: no two candidates differ in speed");
  return table;
}

absl::StatusOr<Matrix> MakeMatrix(const Table& table, size_t columns) {
  DMatrixHandle handle = nullptr;
  const size_t rows = table.throughput.size();
  const std::string array = ArrayInterface(table.features, rows, columns);
  RETURN_IF_ERROR(Check(XGDMatrixCreateFromDense(array.c_str(), R"({"missing":NaN,"nthread":1})", &handle),
                        "reading features"));
  Matrix matrix(handle);
  RETURN_IF_ERROR(
      Check(XGDMatrixSetFloatInfo(handle, "label", table.throughput.data(), rows), "reading throughputs"));
  RETURN_IF_ERROR(Check(
      XGDMatrixSetUIntInfo(handle, "group", table.group_sizes.data(), table.group_sizes.size()), "grouping"));
  // An empty list means no base scores.
  RETURN_IF_ERROR(
      Check(XGDMatrixSetFloatInfo(handle, "base_margin", table.base_scores.data(), table.base_scores.size()),
            "reading base scores"));
  return matrix;
}

// Creates the booster that learns from `data`.
absl::StatusOr<Booster> MakeBooster(DMatrixHandle data, const BoostedTreesOptions& options) {
  BoosterHandle handle = nullptr;
  RETURN_IF_ERROR(Check(XGBoosterCreate(&data, 1, &handle), "making trees"));
  Booster booster(handle);
  // One thread, since others measure meanwhile, and so that sums do not depend on how work is divided.
  const std::pair<const char*, std::string> parameters[] = {
      {"nthread", "1"},
      {"verbosity", "0"},
      {"tree_method", "hist"},
      {"max_bin", "64"},
      {"objective", "rank:pairwise"},
      {"base_score", "0"},
      {"disable_default_eval_metric", "1"},
      {"max_depth", absl::StrCat(options.depth)},
      {"learning_rate", absl::StrCat(options.learning_rate)},
      {"seed", absl::StrCat(options.seed)},
  };
  for (const auto& [name, value] : parameters)
    RETURN_IF_ERROR(Check(XGBoosterSetParam(handle, name, value.c_str()), "setting up"));
  return booster;
}

// XGBoost only learns; the learned trees are copied, and predicting needs no XGBoost.
class BoostedTrees : public CostModel {
 public:
  explicit BoostedTrees(const BoostedTreesOptions& options) : options_(options), trees_(options.base) {}

  absl::Status Update(std::span<const TaskSamples> tasks) override {
    ASSIGN_OR_RETURN(const Table table, TableOf(tasks, columns(), options_.base.get()));
    ASSIGN_OR_RETURN(const Matrix matrix, MakeMatrix(table, columns()));
    ASSIGN_OR_RETURN(const Booster booster, MakeBooster(matrix.get(), options_));
    for (int round = 0; round < options_.rounds; ++round)
      RETURN_IF_ERROR(Check(XGBoosterUpdateOneIter(booster.get(), round, matrix.get()), "learning"));
    bst_ulong length = 0;
    const char* bytes = nullptr;
    RETURN_IF_ERROR(
        Check(XGBoosterSaveModelToBuffer(booster.get(), R"({"format":"ubj"})", &length, &bytes), "writing"));
    TreeEnsembleBuilder builder = options_.base == nullptr
                                      ? TreeEnsembleBuilder(options_.num_features, options_.feature_version)
                                      : TreeEnsembleBuilder(*options_.base);
    RETURN_IF_ERROR(AddXgboostTrees({bytes, length}, builder));
    ASSIGN_OR_RETURN(TreeEnsemble trees, std::move(builder).Build());
    auto learned = std::make_shared<const TreeEnsemble>(std::move(trees));
    const std::lock_guard lock(mutex_);
    trees_ = std::move(learned);
    return absl::OkStatus();
  }

  bool is_trained() const override { return trees() != nullptr; }

  absl::StatusOr<std::vector<float>> Predict(std::span<const FeatureVector> candidates) const override {
    RETURN_IF_ERROR(CheckFeatures(candidates, columns()));
    const std::shared_ptr<const TreeEnsemble> trees = this->trees();
    if (trees == nullptr) return NotTrained();
    std::vector<float> scores;
    scores.reserve(candidates.size());
    for (const FeatureVector& candidate : candidates) scores.push_back(trees->Predict(candidate));
    return scores;
  }

  absl::StatusOr<std::string> Serialize() const override {
    const std::shared_ptr<const TreeEnsemble> trees = this->trees();
    if (trees == nullptr) return NotTrained();
    return trees->Serialize();
  }

 private:
  static absl::Status NotTrained() { return absl::FailedPreconditionError("cost model: not trained yet"); }

  size_t columns() const { return static_cast<size_t>(options_.num_features); }

  std::shared_ptr<const TreeEnsemble> trees() const {
    const std::lock_guard lock(mutex_);
    return trees_;
  }

  const BoostedTreesOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TreeEnsemble> trees_;  // base and learned trees; null: not trained
};

}  // namespace

std::unique_ptr<CostModel> MakeBoostedTrees(const BoostedTreesOptions& options) {
  // A base for other features would read beyond the vectors.
  if (options.base != nullptr && (options.base->num_features() != options.num_features ||
                                  options.base->feature_version() != options.feature_version))
    Fatal("the base of a cost model is of other features");
  return std::make_unique<BoostedTrees>(options);
}

}  // namespace attune
