// Trees whose sum scores a vector of numbers: a trained cost model as data that can be checked.
//
// Problem: models come from files of earlier versions of this program or of other people, and the readers
// of libraries that train trees trust their input: a forged model can use up all memory. Idea: our own text
// format, which lists each tree in preorder: a split, its left side, its right side. Such a list needs no
// node numbers, so none can be forged, and there are no cycles. Cost: reading is one pass over the text;
// scoring takes one comparison for each level of each tree.
#ifndef ATTUNE_TUNE_COST_MODEL_TREE_ENSEMBLE_H_
#define ATTUNE_TUNE_COST_MODEL_TREE_ENSEMBLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

// Regression trees over vectors of one length. Immutable and thread safe. Made by a TreeEnsembleBuilder or
// from a text.
class TreeEnsemble {
 public:
  // Parses a text from Serialize(); fails for any other text: one that is damaged (by its digest), forged,
  // or for other features than these. Safe for any bytes: takes time and memory proportional to their
  // number.
  static absl::StatusOr<TreeEnsemble> Parse(std::string_view text, int num_features, int feature_version);

  // A text with lines of about 100 bytes or less. Parse() restores exactly the same trees:
  //
  //   attune cost model 2
  //   feature_version 1
  //   num_features 205
  //   num_trees 80
  //   17<3.25 4<0.5 0.012 -0.25 0.0625
  //   …
  //   sha256 9f86d0…
  //
  // Each tree begins a new line and is listed in preorder: `17<3.25` is a split, `0.012` a leaf. Numbers
  // are the shortest decimals that read back as the same floats. The digest covers all lines before it.
  std::string Serialize() const;

  // The sum of the leaves, in float, tree by tree from the first, that a vector of num_features() finite
  // numbers reaches. At a split `f<t`, a vector goes left if its number f is less than t, else right. The
  // result is finite.
  float Predict(std::span<const float> features) const;

  int num_features() const { return num_features_; }
  int feature_version() const { return feature_version_; }
  size_t num_trees() const { return roots_.size(); }

 private:
  friend class TreeEnsembleBuilder;

  struct Node {
    float value;      // a split's threshold, or a leaf's score
    int32_t feature;  // -1: a leaf
    int32_t right;    // of a split; its left side is the next node
  };

  TreeEnsemble(int num_features, int feature_version)
      : num_features_(num_features), feature_version_(feature_version) {}

  int num_features_, feature_version_;
  std::vector<Node> nodes_;     // tree after tree, in preorder
  std::vector<int32_t> roots_;  // each tree's first node
};

// Builds an ensemble from nodes in preorder, tree after tree: a tree ends with its last leaf. All checks of
// an ensemble's content are here.
class TreeEnsembleBuilder {
 public:
  TreeEnsembleBuilder(int num_features, int feature_version) : ensemble_(num_features, feature_version) {}
  // Continues after the last tree of `base`.
  explicit TreeEnsembleBuilder(const TreeEnsemble& base) : ensemble_(base) {}

  // Fails if there is no such feature, a number is not finite or so large that sums could become infinite,
  // or there are more nodes than any real model has. A builder that has failed must not be used again.
  absl::Status AddSplit(int feature, float threshold);
  absl::Status AddLeaf(float score);

  // Fails if a tree is incomplete. The builder must not be used afterwards.
  absl::StatusOr<TreeEnsemble> Build() &&;

 private:
  absl::Status Add(const TreeEnsemble::Node& node);

  TreeEnsemble ensemble_;
  std::vector<int32_t> open_;  // splits of the last tree that lack their right side, innermost last
};

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_TREE_ENSEMBLE_H_
