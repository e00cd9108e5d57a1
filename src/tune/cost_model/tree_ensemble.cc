#include "tune/cost_model/tree_ensemble.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr std::string_view kMagic = "attune cost model 2\n";
constexpr std::string_view kDigest = "sha256 ";
constexpr size_t kDigestLine = kDigest.size() + 64 + 1;
constexpr size_t kLineWidth = 100;

// Sums of leaves cannot overflow: this many of the largest are 2e27, and a float reaches 3e38.
constexpr size_t kMaxNodes = size_t{1} << 24;
constexpr float kMaxScore = 1e20f;

template <typename T>
bool ParseNumber(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string PrintFloat(float value) {
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

absl::Status Damaged() { return InvalidInput("the cost model is damaged"); }

// Removes the text up to the next of the characters in `ends` from `text`, including that character.
std::string_view TakeUntil(std::string_view ends, std::string_view& text) {
  const size_t end = std::min(text.find_first_of(ends), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

// Removes a line `name value` from the text.
absl::StatusOr<int64_t> TakeField(std::string_view name, std::string_view& text) {
  std::string_view line = TakeUntil("\n", text);
  int64_t value = 0;
  if (TakeUntil(" ", line) != name || !ParseNumber(line, value))
    return InvalidInput("the cost model does not say its ", name);
  return value;
}

// Adds the node that a word of the text describes.
absl::Status AddNode(std::string_view word, TreeEnsembleBuilder& builder) {
  const size_t less = word.find('<');
  float value = 0;
  int feature = 0;
  if (!ParseNumber(word.substr(less == std::string_view::npos ? 0 : less + 1), value)) return Damaged();
  if (less == std::string_view::npos) return builder.AddLeaf(value);
  if (!ParseNumber(word.substr(0, less), feature)) return Damaged();
  return builder.AddSplit(feature, value);
}

}  // namespace

absl::Status TreeEnsembleBuilder::Add(const TreeEnsemble::Node& node) {
  std::vector<TreeEnsemble::Node>& nodes = ensemble_.nodes_;
  if (nodes.size() == kMaxNodes) return InvalidInput("the cost model has over ", kMaxNodes, " nodes");
  const auto index = static_cast<int32_t>(nodes.size());
  if (open_.empty()) {
    ensemble_.roots_.push_back(index);
  } else if (nodes.back().feature < 0) {
    nodes[static_cast<size_t>(open_.back())].right = index;
    open_.pop_back();
  }
  nodes.push_back(node);
  if (node.feature >= 0) open_.push_back(index);
  return absl::OkStatus();
}

absl::Status TreeEnsembleBuilder::AddSplit(int feature, float threshold) {
  if (feature < 0 || feature >= ensemble_.num_features_)
    return InvalidInput("the cost model asks for feature ", feature, " of ", ensemble_.num_features_);
  if (!std::isfinite(threshold)) return InvalidInput("a threshold of the cost model is not finite");
  return Add({threshold, feature, 0});
}

absl::Status TreeEnsembleBuilder::AddLeaf(float score) {
  if (!(std::abs(score) <= kMaxScore))
    return InvalidInput("a score of the cost model is ", score, ", beyond ", kMaxScore);
  return Add({score, -1, 0});
}

absl::StatusOr<TreeEnsemble> TreeEnsembleBuilder::Build() && {
  if (!open_.empty()) return InvalidInput("a tree of the cost model is not complete");
  return std::move(ensemble_);
}

float TreeEnsemble::Predict(std::span<const float> features) const {
  float sum = 0;
  for (const int32_t root : roots_) {
    const Node* node = &nodes_[static_cast<size_t>(root)];
    while (node->feature >= 0) {
      const bool is_left = features[static_cast<size_t>(node->feature)] < node->value;
      node = is_left ? node + 1 : &nodes_[static_cast<size_t>(node->right)];
    }
    sum += node->value;
  }
  return sum;
}

std::string TreeEnsemble::Serialize() const {
  std::string text = absl::StrCat(kMagic, "feature_version ", feature_version_, "\nnum_features ",
                                  num_features_, "\nnum_trees ", roots_.size(), "\n");
  size_t line = text.size(), tree = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const bool is_root = tree < roots_.size() && static_cast<size_t>(roots_[tree]) == i;
    if (is_root) ++tree;
    if (i > 0) {
      const bool breaks = is_root || text.size() - line >= kLineWidth;
      text += breaks ? '\n' : ' ';
      if (breaks) line = text.size();
    }
    if (nodes_[i].feature >= 0) absl::StrAppend(&text, nodes_[i].feature, "<");
    text += PrintFloat(nodes_[i].value);
  }
  if (!nodes_.empty()) text += '\n';
  return absl::StrCat(text, kDigest, Sha256Hex(text), "\n");
}

absl::StatusOr<TreeEnsemble> TreeEnsemble::Parse(std::string_view text, int num_features,
                                                 int feature_version) {
  if (!text.starts_with(kMagic))
    return InvalidInput("these bytes are not a cost model of this version of Attune");
  if (text.size() < kMagic.size() + kDigestLine) return Damaged();
  std::string_view rest = text.substr(0, text.size() - kDigestLine);
  if (!rest.ends_with('\n') || text.substr(rest.size()) != absl::StrCat(kDigest, Sha256Hex(rest), "\n"))
    return Damaged();
  rest.remove_prefix(kMagic.size());

  ASSIGN_OR_RETURN(const int64_t version, TakeField("feature_version", rest));
  ASSIGN_OR_RETURN(const int64_t features, TakeField("num_features", rest));
  ASSIGN_OR_RETURN(const int64_t trees, TakeField("num_trees", rest));
  if (version != feature_version || features != num_features)
    return InvalidInput("the cost model has learned from ", features, " features of version ", version,
                        ", this version of Attune has ", num_features, " of version ", feature_version,
                        ": let it learn anew from the records");
  TreeEnsembleBuilder builder(num_features, feature_version);
  while (!rest.empty()) RETURN_IF_ERROR(AddNode(TakeUntil(" \n", rest), builder));
  ASSIGN_OR_RETURN(TreeEnsemble ensemble, std::move(builder).Build());
  if (static_cast<int64_t>(ensemble.num_trees()) != trees)
    return InvalidInput("the cost model has ", ensemble.num_trees(), " trees where ", trees,
                        " are announced");
  return ensemble;
}

}  // namespace attune
