#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// One spatial axis of a transposed convolution whose input position i and tap k contribute to the output
// position i·stride + k - pad. The outputs o = q·stride + r - pad of one phase r are a convolution: they see
// the taps r, r + stride, … at the inputs q, q - 1, ….
struct PhasedAxis {
  int64_t stride, kernel, pad, in, out;

  int64_t taps() const { return (kernel + stride - 1) / stride; }  // of a phase, absent ones included
  int64_t first() const { return pad / stride; }                   // the first q that an output needs
  int64_t skipped() const { return pad - first() * stride; }  // outputs of phase 0, 1, … before the first
  int64_t positions() const { return (pad + out + stride - 1) / stride - first(); }

  // Padding with which the convolution makes positions() outputs.
  int64_t pad_begin() const { return taps() - 1 - first(); }
  int64_t pad_end() const { return positions() - 1 + taps() - in - pad_begin(); }
  bool is_convolution() const { return out > 0 && pad_begin() >= 0 && pad_end() >= 0; }

  // The tap of the transposed convolution that tap t of the phase's is; kernel or more where there is none.
  int64_t Tap(int64_t phase, int64_t t) const { return phase + stride * (taps() - 1 - t); }
};

// A transposed convolution over [N, C, H, W] with constant weights [C, M / group, KH, KW].
class Decomposition {
 public:
  explicit Decomposition(const Node& node) : node_(node), weights_(node.input(1)->constant()) {
    const Shape x = node.input(0)->type().shape(), y = node.output()->type().shape(), &w = weights_->shape();
    const Ints ones(2, 1), zeros(4, 0);
    const Ints strides = node.attrs().IntList("strides", ones), pads = node.attrs().IntList("pads", zeros);
    for (size_t d = 0; d < 2; ++d) axes_.push_back({strides[d], w[d + 2], pads[d], x[d + 2], y[d + 2]});
    group_ = node.attrs().Int("group", 1);
  }

  static bool Applies(const Node& node) {
    if (node.op() != Op::kConvTranspose || node.input(0)->type().rank() != 4) return false;
    if (!node.input(0)->type().is_static() || node.input(1)->constant() == nullptr) return false;
    if (!AllAre(node.attrs().IntList("dilations", {}), 1)) return false;
    if (node.input(2) != nullptr && node.input(2)->constant() == nullptr) return false;
    const Decomposition d(node);
    return (d.phases() == 1 || d.group_ == 1) && d.axes_[0].is_convolution() && d.axes_[1].is_convolution();
  }

  void Apply(Graph& graph, Node* node) const {
    Value* weights = graph.AddConstant(Weights(), node->name(), node);
    Value* bias = node->input(2) == nullptr ? nullptr : graph.AddConstant(Bias(), node->name(), node);
    const PhasedAxis &h = axes_[0], &w = axes_[1];
    Value* y = AddBefore(
        graph, node, Op::kConv, {node->input(0), weights, bias},
        {{"pads", Ints{h.pad_begin(), w.pad_begin(), h.pad_end(), w.pad_end()}}, {"group", group_}});
    if (phases() > 1) {
      y = Interleaved(graph, node, y);
      y = AddBefore(graph, node, Op::kSlice, {y},
                    {{"starts", Ints{0, 0, h.skipped(), w.skipped()}},
                     {"sizes", node->output()->type().shape()},
                     {"steps", Ints(4, 1)}});
    }
    ReplaceNode(graph, node, y);
  }

 private:
  int64_t phases() const { return axes_[0].stride * axes_[1].stride; }

  // Puts the phases, which are the outermost channels, between each other.
  Value* Interleaved(Graph& graph, Node* node, Value* y) const {
    const int64_t rows = axes_[0].stride, columns = axes_[1].stride;
    if (rows == columns) return AddBefore(graph, node, Op::kDepthToSpace, {y}, {{"block", rows}});
    const Shape from = y->type().shape();
    const int64_t channels = from[1] / phases(), h = from[2], w = from[3];
    y = AddBefore(graph, node, Op::kReshape, {y}, {{"shape", Ints{from[0], rows, columns, channels, h, w}}});
    y = AddBefore(graph, node, Op::kTranspose, {y}, {{"perm", Ints{0, 3, 4, 1, 5, 2}}});
    return AddBefore(graph, node, Op::kReshape, {y},
                     {{"shape", Ints{from[0], channels, h * rows, w * columns}}});
  }

  // [phases · M, C / group, taps, taps], the phase of rows outermost, as depth_to_space takes channels.
  Tensor Weights() const {
    const Shape& shape = weights_->shape();
    const std::vector<double> from = ToDoubles(*weights_);
    const int64_t inputs = shape[0] / group_, outputs = shape[1];
    const PhasedAxis &h = axes_[0], &w = axes_[1];
    std::vector<double> to;
    for (int64_t phase = 0; phase < phases(); ++phase) {
      for (int64_t m = 0; m < group_ * outputs; ++m) {
        for (int64_t c = 0; c < inputs; ++c) {
          const int64_t row = m / outputs * inputs + c;
          for (int64_t t = 0; t < h.taps() * w.taps(); ++t) {
            const int64_t y = h.Tap(phase / w.stride, t / w.taps()),
                          x = w.Tap(phase % w.stride, t % w.taps());
            const bool exists = y < h.kernel && x < w.kernel;
            to.push_back(exists ? from[((row * outputs + m % outputs) * h.kernel + y) * w.kernel + x] : 0);
          }
        }
      }
    }
    return FromDoubles(weights_->dtype(), {phases() * group_ * outputs, inputs, h.taps(), w.taps()}, to);
  }

  Tensor Bias() const {
    const Tensor& bias = *node_.input(2)->constant();
    const std::vector<double> once = ToDoubles(bias);
    std::vector<double> repeated;
    for (int64_t phase = 0; phase < phases(); ++phase)
      repeated.insert(repeated.end(), once.begin(), once.end());
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
