// Problem: normalization by groups of channels wants the channels of a group next to each other, that is, a
// plain image, while the convolutions around it want channels in blocks. And exporters reshape the image to
// [N,G,…] for it, which copies an image in blocks.
//
// Idea: a group's statistics combine those of its channels. Sums over pixels, which suit blocks, come
// first; the groups then combine one number for each channel: first the mean, then the mean square of the
// centered values. The rest is elementwise.
#include <utility>
#include <vector>

#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// Whether `value` comes from a convolution, directly or through elementwise operators.
bool IsOfConvolution(const Value* value) {
  constexpr int kMaxBetween = 8;
  for (int i = 0; i < kMaxBetween; ++i) {
    const Node* node = value->producer();
    if (node == nullptr || IsConv(node->op())) return node != nullptr;
    if (!IsElementwise(node->op()) || node->num_inputs() == 0) return false;
    value = node->input(0);
  }
  return false;
}

class GroupNorm {
 public:
  GroupNorm(Graph& graph, Node* node) : graph_(graph), node_(node) {}

  bool Decompose() {
    if (node_->op() != Op::kGroupNorm || !node_->input(0)->type().is_static()) return false;
    groups_ = node_->attrs().Int("groups");
    Value* image = Image();
    if (image == nullptr || !IsOfConvolution(image)) return false;
    shape_ = image->type().shape();
    // With one channel a group, there is a kernel for any layout.
    if (shape_[1] == groups_ || image->type().num_elements() == 0) return false;
    Value *scale = ByChannel(node_->input(1)), *bias = ByChannel(node_->input(2));
    if (scale == nullptr || bias == nullptr) return false;
    const DType dtype = image->type().dtype;
    Value* centered = Add(Op::kSub, {image, MeanOfGroups(image)});
    Value* variance = MeanOfGroups(Add(Op::kMul, {centered, centered}));
    Value* deviation =
        Add(Op::kSqrt, {Add(Op::kAdd, {variance, Number(dtype, node_->attrs().Float("epsilon"))})});
    Value* factor = Add(Op::kMul, {Add(Op::kDiv, {Number(dtype, 1), deviation}), scale});
    Value* result = Add(Op::kAdd, {Add(Op::kMul, {centered, factor}), bias});
    if (result == nullptr) return false;
    if (result->type().dims != node_->output()->type().dims)
      result = Reshape(result, node_->output()->type().shape());
    ReplaceNode(graph_, node_, result);
    return true;
  }

 private:
  Value* Add(Op op, std::vector<Value*> inputs, Attributes attributes = {}) {
    return AddBefore(graph_, node_, op, std::move(inputs), std::move(attributes));
  }
  Value* Reshape(Value* x, const Shape& shape) { return Add(Op::kReshape, {x}, {{"shape", shape}}); }
  Value* Number(DType dtype, double number) {
    return graph_.AddConstant(Tensor::Scalar(dtype, number), node_->name(), node_);
  }

  // The image [N,C,H,W], which the node may see reshaped to [N,G,…]; null where it is not an image.
  Value* Image() const {
    Value* x = node_->input(0);
    if (x->type().rank() == 4) return x;
    const Node* reshape = ProducerOf(x, Op::kReshape);
    if (reshape == nullptr || x->type().rank() != 3) return nullptr;
    Value* image = reshape->input(0);
    if (image->type().rank() != 4 || !image->type().is_static()) return nullptr;
    const Shape from = image->type().shape(), to = x->type().shape();
    return from[0] == to[0] && to[1] == groups_ && from[1] % groups_ == 0 ? image : nullptr;
  }

  // A scale or bias of [C], or of [G] where the node sees each group as a channel, as [C,1,1].
  Value* ByChannel(const Value* parameter) {
    const Tensor* constant = parameter->constant();
    if (constant == nullptr) return nullptr;
    const int64_t channels = shape_[1], repeats = channels / constant->num_elements();
    Tensor result(constant->dtype(), {channels, 1, 1});
    for (int64_t c = 0; c < channels; ++c) result.SetDouble(c, constant->ToDouble(c / repeats));
    return graph_.AddConstant(std::move(result), node_->name(), node_);
  }

  // The mean of each group as [N,C,1,1], the same for all channels of a group.
  Value* MeanOfGroups(Value* x) {
    const int64_t n = shape_[0], c = shape_[1];
    Value* mean = Add(Op::kReduceMean, {x}, {{"axes", Ints{2, 3}}, {"keepdims", true}});
    mean = Reshape(mean, {n, groups_, c / groups_});
    mean = Add(Op::kReduceMean, {mean}, {{"axes", Ints{2}}, {"keepdims", true}});
    mean = Add(Op::kBroadcast, {mean}, {{"shape", Ints{n, groups_, c / groups_}}});
    return Reshape(mean, {n, c, 1, 1});
  }

  Graph& graph_;
  Node* node_;
  int64_t groups_ = 1;
  Shape shape_;
};

}  // namespace

absl::StatusOr<bool> DecomposeGroupNormPass(Graph& graph, const PassContext&) {
  return ForEachNode(graph, [](Graph& g, Node* node) { return GroupNorm(g, node).Decompose(); });
}

}  // namespace attune
