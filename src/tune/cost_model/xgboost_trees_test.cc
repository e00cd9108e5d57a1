#include "tune/cost_model/xgboost_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace attune {
namespace {

constexpr size_t kRows = 400, kColumns = 9;

// A model that XGBoost has learned from random rows, and its predictions for them.
class Learned {
 public:
  // Features are multiples of `grid`, so that some equal a threshold; 0: any floats.
  Learned(uint64_t seed, bool has_base, int depth, double grid) {
    Random random(seed);
    std::vector<float> labels;
    for (size_t i = 0; i < kRows; ++i) {
      std::vector<float>& row = rows_.emplace_back();
      for (size_t j = 0; j < kColumns; ++j) {
        const double x = 10 * random.Normal();
        row.push_back(static_cast<float>(grid == 0 ? x : grid * std::round(x / grid)));
      }
      flat_.insert(flat_.end(), row.begin(), row.end());
      labels.push_back(1 / (1 + std::abs(row[0] - row[1]) + static_cast<float>(random.Uniform())));
      base_scores_.push_back(has_base ? static_cast<float>(random.Normal()) : 0);
    }
    const std::string array =
        absl::StrCat(R"({"data":[)", reinterpret_cast<uintptr_t>(flat_.data()), R"(,true],"shape":[)", kRows,
                     ",", kColumns, R"(],"strides":null,"typestr":"<f4","version":3})");
    Check(XGDMatrixCreateFromDense(array.c_str(), R"({"missing":NaN,"nthread":1})", &matrix_));
    Check(XGDMatrixSetFloatInfo(matrix_, "label", labels.data(), kRows));
    const std::vector<uint32_t> groups = {kRows / 4, kRows - kRows / 4};
    Check(XGDMatrixSetUIntInfo(matrix_, "group", groups.data(), groups.size()));
    if (has_base) Check(XGDMatrixSetFloatInfo(matrix_, "base_margin", base_scores_.data(), kRows));
    Check(XGBoosterCreate(&matrix_, 1, &booster_));
    const std::pair<const char*, std::string> parameters[] = {{"nthread", "1"},
                                                              {"tree_method", "hist"},
                                                              {"objective", "rank:pairwise"},
                                                              {"base_score", "0"},
                                                              {"max_depth", absl::StrCat(depth)},
                                                              {"disable_default_eval_metric", "1"}};
    for (const auto& [name, value] : parameters) Check(XGBoosterSetParam(booster_, name, value.c_str()));
    for (int round = 0; round < 50; ++round) Check(XGBoosterUpdateOneIter(booster_, round, matrix_));
  }
  ~Learned() {
    XGBoosterFree(booster_);
    XGDMatrixFree(matrix_);
  }
  Learned(const Learned&) = delete;
  Learned& operator=(const Learned&) = delete;

  const std::vector<std::vector<float>>& rows() const { return rows_; }
  const std::vector<float>& base_scores() const { return base_scores_; }

  std::string Save() const {
    bst_ulong length = 0;
    const char* bytes = nullptr;
    Check(XGBoosterSaveModelToBuffer(booster_, R"({"format":"ubj"})", &length, &bytes));
    return {bytes, length};
  }

  std::vector<float> Predict() const {
    bst_ulong length = 0;
    const float* scores = nullptr;
    Check(XGBoosterPredict(booster_, matrix_, 0, 0, 0, &length, &scores));
    return {scores, scores + length};
  }

 private:
  static void Check(int code) { ASSERT_EQ(code, 0) << XGBGetLastError(); }

  std::vector<std::vector<float>> rows_;
  std::vector<float> flat_, base_scores_;
  DMatrixHandle matrix_ = nullptr;
  BoosterHandle booster_ = nullptr;
};

TreeEnsemble TreesOf(const Learned& learned) {
  TreeEnsembleBuilder builder(kColumns, 1);
  const absl::Status status = AddXgboostTrees(learned.Save(), builder);
  EXPECT_TRUE(status.ok()) << status;
  return *std::move(builder).Build();
}

TEST(XgboostTrees, ScoreAsXgboostDoes) {
  for (const auto& [seed, depth, grid] :
       {std::tuple(1, 4, 0.0), std::tuple(2, 8, 0.0), std::tuple(3, 6, 1.0), std::tuple(4, 1, 0.25)}) {
    const Learned learned(static_cast<uint64_t>(seed), /*has_base=*/false, depth, grid);
    const TreeEnsemble trees = TreesOf(learned);
    EXPECT_EQ(trees.num_trees(), 50);
    std::vector<float> scores;
    for (const auto& row : learned.rows()) scores.push_back(trees.Predict(row));
    EXPECT_EQ(scores, learned.Predict()) << seed;
  }
}

TEST(XgboostTrees, ScoreOnTopOfABaseAsXgboostDoes) {
  const Learned learned(1, /*has_base=*/true, 4, 0);
  const TreeEnsemble trees = TreesOf(learned);
  const std::vector<float> expected = learned.Predict();
  for (size_t i = 0; i < kRows; ++i) {
    // XGBoost starts the sum with the base's score.
    EXPECT_NEAR(learned.base_scores()[i] + trees.Predict(learned.rows()[i]), expected[i], 1e-5);
  }
}

TEST(XgboostTrees, OtherFormsAreRefused) {
  const std::string model = Learned(1, false, 2, 0).Save();
  const auto message_of = [](const std::string& bytes) {
    TreeEnsembleBuilder builder(kColumns, 1);
    return std::string(AddXgboostTrees(bytes, builder).message());
  };
  EXPECT_EQ(message_of(model), "");
  for (const std::string& bytes : {std::string(), std::string("{}"), model.substr(0, model.size() / 2)})
    EXPECT_THAT(message_of(bytes),
                ::testing::StartsWith("this version of XGBoost writes its trees otherwise"));
}

}  // namespace
}  // namespace attune
