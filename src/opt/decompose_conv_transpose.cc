#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// One spatial axis of a transposed convolution whose input position i and tap k contribute to the output
// position i·stride + k·dilation - pad. The outputs o = q·stride + r - pad of one phase r are a
// convolution: they read the inputs q, q - 1, … with the taps that reach r, r + stride, ….
struct PhasedAxis {
  int64_t stride, dilation, kernel, pad, in, out;

  int64_t reach() const { return (kernel - 1) * dilation + 1; }
  int64_t taps() const { return (reach() + stride - 1) / stride; }  // of a phase, absent ones included
  int64_t first() const { return pad / stride; }                    // the first q that an output needs
  int64_t skipped() const { return pad - first() * stride; }  // outputs of phase 0, 1, … before the first
  int64_t positions() const { return (pad + out + stride - 1) / stride - first(); }

  // Padding with which the convolution makes positions() outputs.
  int64_t pad_begin() const { return taps() - 1 - first(); }
  int64_t pad_end() const { return positions() - 1 + taps() - in - pad_begin(); }
  bool is_convolution() const { return out > 0 && pad_begin() >= 0 && pad_end() >= 0; }

  // The tap of the transposed convolution that becomes tap t of the phase's convolution; kernel or more
  // where there is none.
  int64_t Tap(int64_t phase, int64_t t) const {
    const int64_t at = phase + stride * (taps() - 1 - t);
    return at % dilation == 0 ? at / dilation : kernel;
  }
};

// A transposed convolution over [N, C, H, W] or [N, C, D, H, W] with constant weights [C, M / group, KH,
// KW] or [C, M / group, KD, KH, KW]. It becomes a convolution that has a channel for each phase of each
// channel: phases outermost, or innermost where groups of channels stay together.
class Decomposition {
 public:
  explicit Decomposition(const Node& node) : node_(node), weights_(node.input(1)->constant()) {
    const Shape x = node.input(0)->type().shape(), y = node.output()->type().shape(), &w = weights_->shape();
    const size_t spatial = x.size() - 2;
    const Ints ones(spatial, 1), zeros(2 * spatial, 0);
    const Ints strides = node.attrs().IntList("strides", ones), pads = node.attrs().IntList("pads", zeros),
               dilations = node.attrs().IntList("dilations", ones);
    for (size_t d = 0; d < spatial; ++d)
      axes_.push_back({strides[d], dilations[d], w[d + 2], pads[d], x[d + 2], y[d + 2]});
    group_ = node.attrs().Int("group", 1);
  }

  static bool Applies(const Node& node) {
    if (node.op() != Op::kConvTranspose) return false;
    const TensorType& x = node.input(0)->type();
    if (x.rank() < 4 || x.rank() > 5 || !x.is_static() || node.input(1)->constant() == nullptr) return false;
    if (node.input(2) != nullptr && node.input(2)->constant() == nullptr) return false;
    return std::ranges::all_of(Decomposition(node).axes_, &PhasedAxis::is_convolution);
  }

  void Apply(Graph& graph, Node* node) const {
    Value* weights = graph.AddConstant(Weights(), node->name(), node);
    Value* bias = node->input(2) == nullptr ? nullptr : graph.AddConstant(Bias(), node->name(), node);
    Ints pads, skipped = {0, 0};
    for (const PhasedAxis& axis : axes_) pads.push_back(axis.pad_begin());
    for (const PhasedAxis& axis : axes_) pads.push_back(axis.pad_end());
    for (const PhasedAxis& axis : axes_) skipped.push_back(axis.skipped());
    Value* y = AddBefore(graph, node, Op::kConv, {node->input(0), weights, bias},
                         {{"pads", pads}, {"group", group_}});
    if (phases() > 1) {
      const Ints steps(skipped.size(), 1);
      y = Interleaved(graph, node, y);
      y = AddBefore(graph, node, Op::kSlice, {y},
                    {{"starts", skipped}, {"sizes", node->output()->type().shape()}, {"steps", steps}});
    }
    ReplaceNode(graph, node, y);
  }

 private:
  int64_t phases() const {
    int64_t phases = 1;
    for (const PhasedAxis& axis : axes_) phases *= axis.stride;
    return phases;
  }
  bool phases_outermost() const { return group_ == 1; }
  // The phase that an output channel of the convolution computes, and the channel of the transposed one
  // that it is a part of.
  int64_t PhaseOf(int64_t channel) const {
    return phases_outermost() ? channel / (group_ * weights_->shape()[1]) : channel % phases();
  }
  int64_t ChannelOf(int64_t channel) const {
    return phases_outermost() ? channel % (group_ * weights_->shape()[1]) : channel / phases();
  }

  // Interleaves the phases.
  Value* Interleaved(Graph& graph, Node* node, Value* y) const {
    if (axes_.size() == 2 && axes_[0].stride == axes_[1].stride) {
      Attributes attributes = {{"block", axes_[0].stride}};
      if (!phases_outermost()) attributes.Set("mode", std::string("CRD"));
      return AddBefore(graph, node, Op::kDepthToSpace, {y}, std::move(attributes));
    }
    // [N, phases…, M, positions…] or [N, M, phases…, positions…] → [N, M, position, phase, …].
    const Shape from = y->type().shape();
    const auto spatial = static_cast<int64_t>(axes_.size());
    const int64_t channels = from[1] / phases(), first = phases_outermost() ? 1 : 2;
    Ints split = {from[0]}, perm = {0, phases_outermost() ? spatial + 1 : 1}, merged = {from[0], channels};
    if (!phases_outermost()) split.push_back(channels);
    for (const PhasedAxis& axis : axes_) split.push_back(axis.stride);
    if (phases_outermost()) split.push_back(channels);
    for (int64_t d = 0; d < spatial; ++d) {
      const int64_t positions = from[static_cast<size_t>(d + 2)];
      split.push_back(positions);
      perm.push_back(spatial + 2 + d);
      perm.push_back(first + d);
      merged.push_back(positions * axes_[static_cast<size_t>(d)].stride);
    }
    y = AddBefore(graph, node, Op::kReshape, {y}, {{"shape", split}});
    y = AddBefore(graph, node, Op::kTranspose, {y}, {{"perm", perm}});
    return AddBefore(graph, node, Op::kReshape, {y}, {{"shape", merged}});
  }

  // The index of a phase's tap `t` among the weights of a channel; nothing where the phase has no such tap.
  // Phases and taps are numbered with the last axis fastest.
  std::optional<int64_t> PlaceOf(int64_t phase, int64_t t) const {
    int64_t place = 0, step = 1;
    for (size_t d = axes_.size(); d-- > 0;) {
      const PhasedAxis& axis = axes_[d];
      const int64_t tap = axis.Tap(phase % axis.stride, t % axis.taps());
      if (tap >= axis.kernel) return std::nullopt;
      place += tap * step;
      step *= axis.kernel;
      phase /= axis.stride;
      t /= axis.taps();
    }
    return place;
  }

  // [phases · M, C / group, taps…].
  Tensor Weights() const {
    const Shape& shape = weights_->shape();
    const std::vector<double> from = ToDoubles(*weights_);
    const int64_t inputs = shape[0] / group_, outputs = shape[1];
    const int64_t kernel = weights_->num_elements() / (shape[0] * shape[1]);
    Shape made = {phases() * group_ * outputs, inputs};
    int64_t taps = 1;
    for (const PhasedAxis& axis : axes_) {
      made.push_back(axis.taps());
      taps *= axis.taps();
    }
    std::vector<double> to;
    for (int64_t channel = 0; channel < made[0]; ++channel) {
      const int64_t m = ChannelOf(channel), phase = PhaseOf(channel);
      for (int64_t c = 0; c < inputs; ++c) {
        const int64_t row = m / outputs * inputs + c;
        for (int64_t t = 0; t < taps; ++t) {
          const std::optional<int64_t> place = PlaceOf(phase, t);
          to.push_back(place ? from[static_cast<size_t>((row * outputs + m % outputs) * kernel + *place)]
                             : 0);
        }
      }
    }
    return FromDoubles(weights_->dtype(), made, to);
  }

  Tensor Bias() const {
    const Tensor& bias = *node_.input(2)->constant();
    const std::vector<double> once = ToDoubles(bias);
    std::vector<double> repeated;
    for (int64_t channel = 0; channel < phases() * std::ssize(once); ++channel)
      repeated.push_back(once[static_cast<size_t>(ChannelOf(channel))]);
    return FromDoubles(bias.dtype(), {std::ssize(repeated)}, repeated);
  }

  const Node& node_;
  const Tensor* weights_;
  std::vector<PhasedAxis> axes_;
  int64_t group_;
};

}  // namespace

absl::StatusOr<bool> DecomposeConvTransposePass(Graph& graph, const PassContext&) {
  bool changed = false;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node* node = it++->get();
    if (!Decomposition::Applies(*node)) continue;
    Decomposition(*node).Apply(graph, node);
    changed = true;
  }
  return changed;
}

}  // namespace attune
