#include "plan/layout.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/status.h"
#include "plan/blocks.h"
#include "plan/group_merge.h"

namespace attune {
namespace {

bool SameDims(const TensorType& a, const TensorType& b) { return a.dims == b.dims; }

// Whether the axes other than the spatial ones (2 and 3) keep their sizes.
bool KeepsChannels(const Node& node) {
  const TensorType &in = node.input(0)->type(), &out = node.output()->type();
  return in.rank() == 4 && out.rank() == 4 && in.dims[0] == out.dims[0] && in.dims[1] == out.dims[1];
}

// Layouts within a group, from those of its inputs and the block of its convolutions' outputs.
class GroupAssignment {
 public:
  explicit GroupAssignment(int64_t block) : blocked_{1, static_cast<int>(block)} {}

  void Assign(Graph& region) const {
    for (const auto& node : region.nodes()) {
      if (node->op() == Op::kConstant) continue;
      for (int i = 0; i < node->num_outputs(); ++i) {
        TensorType type = node->output(i)->type();
        type.layout = i == 0 && node->num_outputs() == 1 ? Choose(*node) : Layout();
        node->output(i)->set_type(type);
      }
    }
  }

 private:
  // A narrow feature map wastes the lanes that it does not fill: not worth it unless its input is blocked
  // anyway.
  bool IsWideEnough(const Node& node) const {
    return node.output()->type().dims[1].size * 4 >= blocked_.block ||
           !node.input(0)->type().layout.is_plain();
  }

  // Whether the groups of a convolution are whole blocks or halves of them, or blocks hold whole groups.
  // Whether each block holds whole groups; plain rows are faster than blocks with parts of groups.
  bool FillsBlocks(const Node& conv) const {
    const int64_t group = conv.attrs().Int("group", 1);
    const int64_t in = conv.input(0)->type().dims[1].size, out = conv.output()->type().dims[1].size;
    if (group == 1 || out == 0 || (in == group && out == group)) return true;
    const int64_t channels = out / group;
    const bool shares_blocks = blocked_.block % channels == 0 && channels < blocked_.block;
    return shares_blocks ? in == out : channels % (blocked_.block / 2) == 0;
  }

  Layout Choose(const Node& node) const {
    const TensorType& type = node.output()->type();
    if (node.op() == Op::kLayoutTransform) return type.layout;
    if (!IsFeatureMap(type)) return {};
    switch (GetOpInfo(node.op()).blocks) {
      case Blocks::kNone:
        return {};
      case Blocks::kMakes:
        return IsWideEnough(node) && FillsBlocks(node) ? blocked_ : Layout();
      case Blocks::kKeeps:
        return ChannelsStay(node) ? node.input(0)->type().layout : Layout();
      case Blocks::kJoins:
        if (node.op() != Op::kConcat) return ElementwiseLayout(node);
        return node.attrs().Int("axis") == 1 ? CommonLayout(node) : Layout();
    }
    return {};
  }

  // Whether an operator that can leave channels where they are in their blocks does so.
  bool ChannelsStay(const Node& node) const {
    const int64_t channels = node.output()->type().dims[1].size;
    switch (node.op()) {
      case Op::kTranspose:
        return node.attrs().IntList("perm")[1] == 1;
      case Op::kPad:  // channels may be added behind them
        return node.attrs().IntList("pads")[1] == 0;
      case Op::kGroupNorm:
        return node.attrs().Int("groups") == channels;
      case Op::kDepthToSpace:
        return node.attrs().String("mode", "DCR") == "DCR" && channels % blocked_.block == 0;
      case Op::kSlice:
        return IsAlignedSlice(node);
      default:
        return KeepsChannels(node);
    }
  }

  bool IsAlignedSlice(const Node& node) const {
    const auto& attrs = node.attrs();
    if (KeepsChannels(node)) return attrs.IntList("starts")[0] == 0 && attrs.IntList("steps")[1] == 1;
    return attrs.IntList("steps")[1] == 1 && attrs.IntList("starts")[1] % blocked_.block == 0;
  }

  // Blocked when an operand is blocked; the other operands are read in their own layouts.
  Layout CommonLayout(const Node& node) const {
    const auto& inputs = node.inputs();
    const bool any = std::any_of(inputs.begin(), inputs.end(),
                                 [](const Value* v) { return !v->type().layout.is_plain(); });
    return any ? blocked_ : Layout();
  }

  Layout ElementwiseLayout(const Node& node) const {
    for (const Value* input : node.inputs()) {
      if (!input->type().layout.is_plain() && SameDims(input->type(), node.output()->type()))
        return input->type().layout;
    }
    return {};
  }

  Layout blocked_;
};

// Adds a fused group that brings `value` into `layout`, before `before` (nullptr: at the end of the graph).
absl::StatusOr<Value*> AddTransform(Graph& graph, Value* value, const Layout& layout, Node* before) {
  const auto axis = static_cast<int64_t>(layout.blocked_axis), block = static_cast<int64_t>(layout.block);
  ASSIGN_OR_RETURN(Node* const fused,
                   AddGroupOf(graph, value, Op::kLayoutTransform, {{"blocked_axis", axis}, {"block", block}},
                              layout.is_plain() ? "to_plain" : "to_blocks", before));
  return fused->output();
}

void AssignToGroup(const Node& fused, int64_t block) {
  Graph& region = fused.region();
  for (int i = 0; i < fused.num_inputs(); ++i) region.inputs()[i]->set_type(fused.input(i)->type());
  AssignInGroup(region, block);
  for (int i = 0; i < fused.num_outputs(); ++i) fused.output(i)->set_type(region.outputs()[i].value->type());
}

// Brings those inputs of `node` that are blocked, and that `wanted` names, into plain layout first.
template <typename Predicate>
absl::Status MakeInputsPlain(Graph& graph, Node& node, Predicate wanted) {
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (node.input(i)->type().layout.is_plain() || !wanted(i)) continue;
    ASSIGN_OR_RETURN(Value* const plain, AddTransform(graph, node.input(i), Layout(), &node));
    node.SetInput(i, plain);
  }
  return absl::OkStatus();
}

// Whether a contraction reads an input of its group as weights, or as an operand of attention: kernels pack
// these in an order of their own, and start from the plain one.
bool IsPackedOperand(const Value* input) {
  const auto& users = input->users();
  return std::any_of(users.begin(), users.end(), [input](const Node* user) {
    if (GetOpInfo(user->op()).category != OpCategory::kContraction) return false;
    const int first = user->op() == Op::kAttention ? 0 : 1;
    for (int i = first; i < user->num_inputs(); ++i) {
      if (user->input(i) == input) return true;
    }
    return false;
  });
}

// Whether a convolution whose groups do not fill blocks reads an input of its group as its image.
bool IsImageInRows(const Value* input) {
  return std::ranges::any_of(input->users(), [input](const Node* user) {
    return IsConv(user->op()) && user->input(0) == input && user->output()->type().layout.is_plain() &&
           user->attrs().Int("group", 1) > 1;
  });
}

// Whether an operator is much faster on an image in blocks. Grouped convolutions and interpolation do the
// same to all channels, so channels make better lanes than pixels, which lie at odd distances or overlap.
// Winograd's convolutions, and others that read each pixel often, want a pixel's channels side by side and
// not in as many pages.
bool WantsBlockedImage(const Node& node) {
  constexpr int64_t kOften = 128;
  if (node.op() == Op::kResize) return node.attrs().String("mode", "nearest") != "nearest";
  if (!IsConv(node.op()) || node.output()->type().layout.is_plain()) return false;
  const Shape weights = node.input(1)->type().shape();
  return node.attrs().Int("group", 1) > 1 || weights[0] * weights[2] * weights[3] >= kOften;
}

// Which input of a group is a plain image of many channels that such an operator reads; -1 where there is
// none.
int PlainImage(const Graph& region, int64_t block) {
  for (const auto& node : region.nodes()) {
    if (node->num_inputs() == 0 || !IsFeatureMap(node->output()->type()) || !WantsBlockedImage(*node))
      continue;
    const Value* image = node->input(0);
    if (!image->is_input() || !image->type().layout.is_plain() || image->type().dims[1].size * 2 < block)
      continue;
    return InputIndex(region, image);
  }
  return -1;
}

// Brings that image into blocks first.
absl::Status BlockImage(Graph& graph, Node& fused, int64_t block) {
  const int image = PlainImage(fused.region(), block);
  if (image < 0) return absl::OkStatus();
  const Layout blocked = {1, static_cast<int>(block)};
  ASSIGN_OR_RETURN(Value* const value, AddTransform(graph, fused.input(image), blocked, &fused));
  fused.SetInput(image, value);
  AssignToGroup(fused, block);
  return absl::OkStatus();
}

// Blocked values that a branch or a loop takes are brought into plain layout first.
absl::Status AssignControl(Graph& graph, Node& node, const Target& target, const KernelCosts& costs) {
  RETURN_IF_ERROR(MakeInputsPlain(graph, node, [](int) { return true; }));
  for (int r = 0; r < node.num_regions(); ++r)
    RETURN_IF_ERROR(AssignLayouts(node.region(r), target, {}, costs).status());
  return absl::OkStatus();
}

}  // namespace

void AssignInGroup(Graph& region, int64_t block) { GroupAssignment(block).Assign(region); }

absl::StatusOr<int> AssignLayouts(Graph& graph, const Target& target, const LayoutOverrides& overrides,
                                  const KernelCosts& costs) {
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kFused) AssignToGroup(*node, target.Lanes(4));
  }
  ASSIGN_OR_RETURN(const BlockChoice choice, ChooseBlocks(graph, target, overrides, costs));
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kFused) {
      const Graph& region = node->region();
      RETURN_IF_ERROR(MakeInputsPlain(graph, *node, [&](int i) {
        const Value* input = region.inputs()[static_cast<size_t>(i)].get();
        return IsPackedOperand(input) || IsImageInRows(input);
      }));
      const int64_t block = choice.blocks.at(node.get());
      AssignToGroup(*node, block);
      RETURN_IF_ERROR(BlockImage(graph, *node, block));
    } else {
      RETURN_IF_ERROR(AssignControl(graph, *node, target, costs));
    }
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    Value* const value = graph.outputs()[i].value;
    if (value->type().layout.is_plain()) continue;
    ASSIGN_OR_RETURN(Value* const plain, AddTransform(graph, value, Layout(), nullptr));
    graph.SetOutput(static_cast<int>(i), plain);
  }
  return choice.classes;
}

}  // namespace attune
