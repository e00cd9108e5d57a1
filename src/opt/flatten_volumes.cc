// Problem: strategies for convolutions and pools tile images; volumes [N,C,D,H,W] would have none.
//
// Idea: a volume is D images. A convolution with KD planes of taps is a convolution of images that have the
// concatenated channels of KD planes each; where KD is 1, that copies nothing. A maximum pool is a pool of
// each plane, and then the maximum of KD planes. Images are in the order [D·N,C,H,W], in which planes are
// neighbours whatever N is. The transpositions at both ends cancel between one layer and the next. A
// convolution along the depth alone is one of the image [N,C,D,H·W], which copies nothing.
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// The window along one axis.
struct Window {
  int64_t kernel, stride, dilation, begin, end;
};

class Volume {
 public:
  Volume(Graph& graph, Node* node) : graph_(graph), node_(node) {}

  bool Flatten() {
    if (IsAlongDepth()) return FlattenPlanes();
    const std::optional<Window> depth = Depth();
    if (!depth) return false;
    const Shape in = node_->input(0)->type().shape(), out = node_->output()->type().shape();
    Value* planes = Add(Op::kTranspose, {node_->input(0)}, {{"perm", Ints{2, 0, 1, 3, 4}}});
    Value* images = Padded(Reshape(planes, {in[2] * in[0], in[1], in[3], in[4]}), *depth);
    std::vector<Value*> taps;
    for (int64_t k = 0; k < depth->kernel; ++k) taps.push_back(Tap(images, *depth, k, out[2]));
    Value* result = IsPool(node_->op()) ? Pool(taps) : Convolve(taps);
    if (result == nullptr) return false;
    result = Reshape(result, {out[2], out[0], out[1], out[3], out[4]});
    ReplaceNode(graph_, node_, Add(Op::kTranspose, {result}, {{"perm", Ints{1, 2, 0, 3, 4}}}));
    return true;
  }

 private:
  static bool IsPool(Op op) { return op == Op::kMaxPool || op == Op::kAvgPool; }

  Value* Add(Op op, std::vector<Value*> inputs, Attributes attributes = {}) {
    return AddBefore(graph_, node_, op, std::move(inputs), std::move(attributes));
  }
  Value* Reshape(Value* x, const Shape& shape) { return Add(Op::kReshape, {x}, {{"shape", shape}}); }

  bool IsVolume() const {
    return node_->num_outputs() == 1 && node_->input(0)->type().rank() == 5 &&
           node_->input(0)->type().is_static() && node_->output()->type().is_static();
  }

  // Whether the node is a convolution that sees one pixel of each plane.
  bool IsAlongDepth() const {
    if (!IsConv(node_->op()) || !IsVolume()) return false;
    const Shape w = node_->input(1)->type().shape();
    if (w[2] == 1 || w[3] != 1 || w[4] != 1 || node_->input(1)->constant() == nullptr) return false;
    const Ints ones(3, 1), zeros(6, 0), strides = node_->attrs().IntList("strides", ones),
                                        pads = node_->attrs().IntList("pads", zeros);
    return strides[1] == 1 && strides[2] == 1 && pads[1] == 0 && pads[2] == 0 && pads[4] == 0 && pads[5] == 0;
  }

  // Planes become rows.
  bool FlattenPlanes() {
    const Shape in = node_->input(0)->type().shape(), out = node_->output()->type().shape(),
                w = node_->input(1)->type().shape();
    Attributes attributes = node_->attrs();
    for (const char* name : {"strides", "dilations"}) {
      if (attributes.Has(name)) attributes.Set(name, Ints{attributes.IntList(name)[0], 1});
    }
    if (attributes.Has("pads"))
      attributes.Set("pads", Ints{attributes.IntList("pads")[0], 0, attributes.IntList("pads")[3], 0});
    std::vector<Value*> inputs = node_->inputs();
    inputs[0] = Reshape(inputs[0], {in[0], in[1], in[2], in[3] * in[4]});
    inputs[1] = Reshape(inputs[1], {w[0], w[1], w[2], 1});
    Value* rows = Add(node_->op(), std::move(inputs), std::move(attributes));
    if (rows == nullptr) return false;
    ReplaceNode(graph_, node_, Reshape(rows, out));
    return true;
  }

  // The window along the depth; nothing for a node that is not a convolution or pool of a volume, or whose
  // volume cannot be taken apart into planes.
  std::optional<Window> Depth() const {
    const bool is_conv = IsConv(node_->op());
    if ((!is_conv && !IsPool(node_->op())) || !IsVolume()) return std::nullopt;
    const auto& attributes = node_->attrs();
    const int64_t kernel = is_conv ? node_->input(1)->type().shape()[2] : attributes.IntList("kernel")[0];
    const Ints ones(3, 1), zeros(6, 0), pads = attributes.IntList("pads", zeros);
    const Window depth = {kernel, attributes.IntList("strides", ones)[0],
                          attributes.IntList("dilations", ones)[0], pads[0], pads[3]};
    // Networks do not compute weights, and the channels of a group's planes are not neighbours.
    if (is_conv && node_->input(1)->constant() == nullptr) return std::nullopt;
    if (is_conv && kernel > 1 && attributes.Int("group", 1) != 1) return std::nullopt;
    // Padding would have to be the zero point.
    const bool is_padded = depth.begin != 0 || depth.end != 0;
    if (node_->op() == Op::kConvInteger && is_padded && node_->input(2) != nullptr) return std::nullopt;
    // A mean over padding has a different divisor for each pixel.
    if (IsPool(node_->op()) && attributes.Int("ceil_mode", 0) != 0) return std::nullopt;
    if (node_->op() == Op::kAvgPool && (!AllAre(pads, 0) || depth.kernel > 1)) return std::nullopt;
    return depth;
  }

  int64_t Batch() const { return node_->input(0)->type().shape()[0]; }

  Value* Padded(Value* images, const Window& depth) {
    if (depth.begin == 0 && depth.end == 0) return images;
    Ints pads(8, 0);
    pads[0] = depth.begin * Batch();
    pads[4] = depth.end * Batch();
    Attributes attributes = {{"pads", pads}};
    if (IsPool(node_->op())) attributes.Set("value", ExactNumber(LowestOf(node_->input(0)->type().dtype)));
    return Add(Op::kPad, {images}, std::move(attributes));
  }

  static double LowestOf(DType dtype) {
    return IsFloat(dtype) ? -std::numeric_limits<double>::infinity() : dtype == DType::kI8 ? -128.0 : 0.0;
  }

  // The images that tap k of each output sees. A stride passes over planes of several volumes, so these
  // become an axis of their own for the slice.
  Value* Tap(Value* images, const Window& depth, int64_t k, int64_t outputs) {
    const int64_t batch = Batch();
    const Shape shape = images->type().shape();
    if (shape[0] == outputs * batch && depth.kernel == 1) return images;
    const bool passes_over = depth.stride > 1 && batch > 1;
    Shape sizes = passes_over ? Shape{outputs, batch} : Shape{outputs * batch};
    sizes.insert(sizes.end(), shape.begin() + 1, shape.end());
    Ints starts(sizes.size(), 0), steps(sizes.size(), 1);
    starts[0] = k * depth.dilation * (passes_over ? 1 : batch);
    steps[0] = depth.stride;
    if (passes_over) images = Reshape(images, {shape[0] / batch, batch, shape[1], shape[2], shape[3]});
    Value* tap = Add(Op::kSlice, {images}, {{"starts", starts}, {"sizes", sizes}, {"steps", steps}});
    return passes_over ? Reshape(tap, {outputs * batch, shape[1], shape[2], shape[3]}) : tap;
  }

  // The attributes without their values for the depth.
  Attributes OfImages() const {
    Attributes attributes = node_->attrs();
    for (const char* name : {"kernel", "strides", "dilations", "pads"}) {
      if (!attributes.Has(name)) continue;
      Ints list = attributes.IntList(name);
      if (list.size() == 6) list.erase(list.begin() + 3);
      list.erase(list.begin());
      attributes.Set(name, std::move(list));
    }
    return attributes;
  }

  Value* Pool(const std::vector<Value*>& taps) {
    Value* result = nullptr;
    for (Value* tap : taps) {
      Value* pooled = Add(node_->op(), {tap}, OfImages());
      result = result == nullptr ? pooled : Add(Op::kMax, {result, pooled});
    }
    return result;
  }

  Value* Convolve(const std::vector<Value*>& taps) {
    Value* x = taps.size() == 1 ? taps[0] : Add(Op::kConcat, taps, {{"axis", int64_t{1}}});
    // [M,C,KD,KH,KW] → [M,KD,C,KH,KW], and the planes concatenated.
    const Shape w = node_->input(1)->type().shape();
    std::vector<Value*> inputs = node_->inputs();
    inputs[0] = x;
    inputs[1] = Reshape(Add(Op::kTranspose, {inputs[1]}, {{"perm", Ints{0, 2, 1, 3, 4}}}),
                        {w[0], w[2] * w[1], w[3], w[4]});
    return Add(node_->op(), std::move(inputs), OfImages());
  }

  Graph& graph_;
  Node* node_;
};

}  // namespace

absl::StatusOr<bool> FlattenVolumesPass(Graph& graph, const PassContext&) {
  return ForEachNode(graph, [](Graph& g, Node* node) { return Volume(g, node).Flatten(); });
}

}  // namespace attune
