// Trees whose sum scores a vector of numbers: what a cost model has learned, as data that is checked.
//
// Problem: models come from files, from this program's past or from others, and the readers of libraries that
// learn trees trust what they read: a forged model costs all memory. Idea: a text of our own that lists each
// tree in preorder, a split, all below its left side, all below its right one. Such a list needs no numbers
// of nodes, so there are none to forge, and no cycles. Cost: reading is one pass over the text; scoring takes
// a comparison for each level of each tree.
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

// Regression trees over vectors of one length. Immutable: any number of threads may use one. Made by a
// TreeEnsembleBuilder or from a text.
class TreeEnsemble {
 public:
  // What Serialize() wrote, and nothing else: fails where the text is damaged, by its digest, is forged, or
  // is of other features than these. Safe on any bytes: takes time and memory in proportion to them.
  static absl::StatusOr<TreeEnsemble> Parse(std::string_view text, int num_features, int feature_version);

  // A text of lines of at most 100 bytes or little more. Parse() makes the same trees of it, bit for bit:
  //
  //   attune cost model 2
  //   feature_version 1
  //   num_features 205
  //   num_trees 80
  //   17<3.25 4<0.5 0.012 -0.25 0.0625
  //   …
  //   sha256 9f86d0…
  //
  // Each tree begins a line and is listed in preorder: `17<3.25` is a split, `0.012` a leaf. Numbers are the
  // shortest decimals that read back as the same floats. The digest is of all lines before it.
  std::string Serialize() const;

  // The leaves that a vector of num_features() finite numbers ends in, added up in floats, tree by tree from
  // the first. At a split `f<t` a vector goes left where its number f is less than t, else right. Finite.
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

// Makes an ensemble of nodes in preorder, tree after tree: a tree ends with its last leaf. All checks of what
// an ensemble holds are here.
class TreeEnsembleBuilder {
 public:
  TreeEnsembleBuilder(int num_features, int feature_version) : ensemble_(num_features, feature_version) {}
  // Continues after the last tree of `base`.
  explicit TreeEnsembleBuilder(const TreeEnsemble& base) : ensemble_(base) {}

  // Fail where the ensemble has no such feature, where a number is not finite or so large that sums might
  // become infinite, or where there are more nodes than anyone has learned. A builder that failed is spent.
  absl::Status AddSplit(int feature, float threshold);
  absl::Status AddLeaf(float score);

  // Fails where a tree is not complete. The builder is spent.
  absl::StatusOr<TreeEnsemble> Build() &&;

 private:
  absl::Status Add(const TreeEnsemble::Node& node);

  TreeEnsemble ensemble_;
  std::vector<int32_t> open_;  // splits of the last tree whose right sides are to come, innermost last
};

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_TREE_ENSEMBLE_H_
