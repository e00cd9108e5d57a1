#include "tune/cost_model.h"

#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status.h"

namespace attune {
namespace {

// What a serialized model begins with: the magic, then numbers in decimal and a digest, a line each.
constexpr std::string_view kMagic = "attune cost model 1";
constexpr size_t kMaxModelBytes = 256 << 20;

struct FreeMatrix {
  void operator()(void* matrix) const { XGDMatrixFree(matrix); }
};
struct FreeBooster {
  void operator()(void* booster) const { XGBoosterFree(booster); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

// The status of a call of XGBoost's, whose messages have stack traces below their first line.
absl::Status Check(int code, std::string_view doing) {
  if (code == 0) return absl::OkStatus();
  const std::vector<std::string> lines = absl::StrSplit(XGBGetLastError(), '\n');
  return InternalError("cost model: ", doing, ": ", lines.front());
}

// A dense matrix of floats as XGBoost's interface takes it, in NumPy's array interface.
std::string ArrayInterface(const std::vector<float>& values, size_t rows, size_t columns) {
  return absl::StrCat(R"({"data":[)", reinterpret_cast<uintptr_t>(values.data()), R"(,true],"shape":[)", rows,
                      ",", columns, R"(],"strides":null,"typestr":"<f4","version":3})");
}

// Rows one after the other; fails where one has another length or a number is not finite.
absl::StatusOr<std::vector<float>> Flatten(std::span<const FeatureVector> rows, size_t columns) {
  std::vector<float> flat;
  flat.reserve(rows.size() * columns);
  for (const FeatureVector& row : rows) {
    if (row.size() != columns)
      return InvalidInput("cost model: ", row.size(), " features where ", columns, " are expected");
    for (float value : row) {
      if (!std::isfinite(value)) return InvalidInput("cost model: a feature is not finite");
    }
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return flat;
}

// All samples in one table, tasks one after the other.
struct Table {
  std::vector<float> features, throughput;
  std::vector<uint32_t> group_sizes;
};

absl::StatusOr<Table> TableOf(std::span<const TaskSamples> tasks, size_t columns) {
  Table table;
  bool differ = false;
  for (const TaskSamples& task : tasks) {
    if (task.features.size() != task.throughput.size())
      return InvalidInput("cost model: ", task.features.size(), " candidates but ", task.throughput.size(),
                          " throughputs");
    if (task.features.empty()) continue;
    ASSIGN_OR_RETURN(const std::vector<float> rows, Flatten(task.features, columns));
    for (float throughput : task.throughput) {
      if (!std::isfinite(throughput) || throughput < 0 || throughput > 1)
        return InvalidInput("cost model: a throughput is ", throughput, ", not in [0, 1]");
      differ |= throughput != task.throughput.front();
    }
    table.features.insert(table.features.end(), rows.begin(), rows.end());
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
  return matrix;
}

class BoostedTrees : public CostModel {
 public:
  explicit BoostedTrees(const BoostedTreesOptions& options) : options_(options) {}

  absl::Status Update(std::span<const TaskSamples> tasks) override {
    ASSIGN_OR_RETURN(const Table table, TableOf(tasks, columns()));
    ASSIGN_OR_RETURN(const Matrix matrix, MakeMatrix(table, columns()));
    DMatrixHandle data = matrix.get();
    ASSIGN_OR_RETURN(Booster booster, MakeBooster(&data));
    for (int round = 0; round < options_.rounds; ++round)
      RETURN_IF_ERROR(Check(XGBoosterUpdateOneIter(booster.get(), round, data), "learning"));
    const std::lock_guard lock(mutex_);
    booster_ = std::move(booster);
    return absl::OkStatus();
  }

  bool is_trained() const override {
    const std::lock_guard lock(mutex_);
    return booster_ != nullptr;
  }

  absl::StatusOr<std::vector<float>> Predict(std::span<const FeatureVector> candidates) const override {
    ASSIGN_OR_RETURN(const std::vector<float> features, Flatten(candidates, columns()));
    const std::string array = ArrayInterface(features, candidates.size(), columns());
    const std::lock_guard lock(mutex_);
    if (booster_ == nullptr) return absl::FailedPreconditionError("cost model: not trained yet");
    if (candidates.empty()) return std::vector<float>();
    const bst_ulong* shape = nullptr;
    bst_ulong rank = 0;
    const float* scores = nullptr;
    constexpr char kConfig[] =
        R"({"type":0,"cache_id":0,"iteration_begin":0,"iteration_end":0,"strict_shape":false,"missing":NaN})";
    RETURN_IF_ERROR(Check(
        XGBoosterPredictFromDense(booster_.get(), array.c_str(), kConfig, nullptr, &shape, &rank, &scores),
        "predicting"));
    if (rank < 1 || shape[0] != candidates.size()) return InternalError("cost model: scores are missing");
    return std::vector<float>(scores, scores + candidates.size());
  }

  absl::StatusOr<std::string> Serialize() const override {
    const std::lock_guard lock(mutex_);
    if (booster_ == nullptr) return absl::FailedPreconditionError("cost model: not trained yet");
    bst_ulong length = 0;
    const char* bytes = nullptr;
    RETURN_IF_ERROR(
        Check(XGBoosterSaveModelToBuffer(booster_.get(), R"({"format":"ubj"})", &length, &bytes), "writing"));
    const std::string_view trees(bytes, length);
    return absl::StrCat(kMagic, "\n", options_.feature_version, "\n", options_.num_features, "\n",
                        Sha256Hex(trees), "\n", trees);
  }

  // From what follows the header, whose digest is right.
  absl::Status Load(std::string_view trees) {
    ASSIGN_OR_RETURN(Booster booster, MakeBooster(nullptr));
    RETURN_IF_ERROR(
        Check(XGBoosterLoadModelFromBuffer(booster.get(), trees.data(), trees.size()), "reading"));
    bst_ulong features = 0;
    RETURN_IF_ERROR(Check(XGBoosterGetNumFeature(booster.get(), &features), "reading"));
    if (features != columns())
      return InvalidInput("cost model: ", features, " features where ", columns(), " are expected");
    const std::lock_guard lock(mutex_);
    booster_ = std::move(booster);
    return absl::OkStatus();
  }

 private:
  size_t columns() const { return static_cast<size_t>(options_.num_features); }

  // For `data`, a matrix, or none where one is to be read.
  absl::StatusOr<Booster> MakeBooster(const DMatrixHandle* data) const {
    BoosterHandle handle = nullptr;
    RETURN_IF_ERROR(Check(XGBoosterCreate(data, data == nullptr ? 0 : 1, &handle), "making trees"));
    Booster booster(handle);
    // One thread, since others measure meanwhile, and since sums do not depend on how work is shared then.
    const std::pair<const char*, std::string> parameters[] = {
        {"nthread", "1"},
        {"verbosity", "0"},
        {"tree_method", "hist"},
        {"max_bin", "64"},
        {"objective", "rank:pairwise"},
        {"disable_default_eval_metric", "1"},
        {"max_depth", absl::StrCat(options_.depth)},
        {"learning_rate", absl::StrCat(options_.learning_rate)},
        {"seed", absl::StrCat(options_.seed)},
    };
    for (const auto& [name, value] : parameters)
      RETURN_IF_ERROR(Check(XGBoosterSetParam(handle, name, value.c_str()), "setting up"));
    return booster;
  }

  const BoostedTreesOptions options_;
  mutable std::mutex mutex_;
  Booster booster_;  // null: not trained
};

}  // namespace

std::unique_ptr<CostModel> MakeBoostedTrees(const BoostedTreesOptions& options) {
  return std::make_unique<BoostedTrees>(options);
}

absl::StatusOr<std::unique_ptr<CostModel>> LoadBoostedTrees(std::string_view bytes,
                                                            const BoostedTreesOptions& options) {
  const std::vector<std::string_view> parts = absl::StrSplit(bytes.substr(0, 256), absl::MaxSplits('\n', 4));
  if (parts[0] != kMagic) return InvalidInput("these bytes are no cost model of this version of Attune");
  if (parts.size() < 5 || bytes.size() > kMaxModelBytes) return InvalidInput("the cost model is damaged");
  const size_t header = kMagic.size() + parts[1].size() + parts[2].size() + parts[3].size() + 4;
  const std::string_view trees = bytes.substr(header);
  if (Sha256Hex(trees) != parts[3]) return InvalidInput("the cost model is damaged");
  if (parts[1] != absl::StrCat(options.feature_version) || parts[2] != absl::StrCat(options.num_features))
    return InvalidInput("the cost model has learned from features of version ", parts[1],
                        ", this version of Attune has version ", options.feature_version,
                        ": let it learn anew from the records");
  auto model = std::make_unique<BoostedTrees>(options);
  RETURN_IF_ERROR(model->Load(trees));
  return std::unique_ptr<CostModel>(std::move(model));
}

}  // namespace attune
