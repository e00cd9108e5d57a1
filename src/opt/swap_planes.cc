// Problem: between a convolution of images [D,C,H,W] and one along the depth, of [1,C,D,H·W], planes and
// channels change places in a transposition of volumes, around which nothing can be in blocks of channels.
//
// Idea: images of one row, [D,C,1,H·W], and the rows [1,C,D,H·W] differ in their planes' axis alone. If
// they are swapped in this form, channels stay axis 1, and whole blocks of them are moved. And volumes that
// are concatenated and read as images are concatenated as images, where some of them were images.
#include <algorithm>
#include <optional>

#include "base/status.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

struct Swap {
  int64_t first, second, rest;  // [first, second, rest] becomes [second, first, rest]
};

// A transposition as a swap of two groups of axes: without axes of one element, and with neighbours that
// stay neighbours taken as one.
std::optional<Swap> AsSwap(const Node& transpose) {
  const Shape in = transpose.input(0)->type().shape();
  Ints order;  // of the axes longer than one element
  for (int64_t axis : transpose.attrs().IntList("perm")) {
    if (in[static_cast<size_t>(axis)] != 1) order.push_back(axis);
  }
  const auto first_moved = std::ranges::min_element(order);
  if (first_moved == order.begin() || first_moved == order.end()) return std::nullopt;
  // In the result, `moved` comes first, then the axes from the least one on, then those that did not move.
  const Ints moved(order.begin(), first_moved);
  const auto last = std::find_if(first_moved, order.end(), [&](int64_t axis) { return axis > moved.back(); });
  Ints original(first_moved, last);
  original.insert(original.end(), moved.begin(), moved.end());
  original.insert(original.end(), last, order.end());
  if (!std::ranges::is_sorted(original)) return std::nullopt;
  const auto elements = [&](auto begin, auto end) {
    int64_t product = 1;
    for (auto it = begin; it != end; ++it) product *= in[static_cast<size_t>(*it)];
    return product;
  };
  return Swap{elements(first_moved, last), elements(moved.begin(), moved.end()), elements(last, order.end())};
}

// `node` is a transposition, or a reshape that is the only user of one.
bool SwapPlanes(Graph& graph, Node* node) {
  const Node* transpose = node->op() == Op::kTranspose ? node : nullptr;
  if (node->op() == Op::kReshape && OnlyUser(graph, node->input(0)) == node)
    transpose = ProducerOf(node->input(0), Op::kTranspose);
  if (transpose == nullptr || !transpose->input(0)->type().is_static()) return false;
  const std::optional<Swap> swap = AsSwap(*transpose);
  if (!swap) return false;
  const Node* const before = ProducerOf(transpose->input(0), Op::kReshape);
  Value* const source = before == nullptr ? transpose->input(0) : before->input(0);
  const Shape from = source->type().shape(), to = node->output()->type().shape();
  if (from.size() != 4 || to.size() != 4) return false;
  const auto starts_with = [](const Shape& shape, int64_t images, int64_t channels) {
    return shape[0] == images && shape[1] == channels;
  };
  const auto [first, second, rest] = *swap;
  const bool to_rows = starts_with(from, first, second) && to == Shape{1, second, first, rest};
  const bool to_images = from == Shape{1, first, second, rest} && starts_with(to, second, first);
  if (!to_rows && !to_images) return false;
  const auto add = [&](Op op, Value* x, Attributes attributes) {
    return AddBefore(graph, node, op, {x}, std::move(attributes));
  };
  Value* rows = to_rows ? add(Op::kReshape, source, {{"shape", Shape{first, second, 1, rest}}}) : source;
  Value* swapped = add(Op::kTranspose, rows, {{"perm", Ints{2, 1, 0, 3}}});
  ReplaceNode(graph, node, to_rows ? swapped : add(Op::kReshape, swapped, {{"shape", to}}));
  return true;
}

bool IsTransposeBy(const Node* node, const Ints& perm) {
  return node != nullptr && node->op() == Op::kTranspose && node->attrs().IntList("perm") == perm;
}

// The images [D,C,H,W] that a volume [1,C,D,H,W] was made of, or null.
Value* ImagesOf(const Value* volume) {
  const Node* transpose = volume->producer();
  if (!IsTransposeBy(transpose, {1, 2, 0, 3, 4})) return nullptr;
  const Node* reshape = ProducerOf(transpose->input(0), Op::kReshape);
  const Shape planes = transpose->input(0)->type().shape();
  const Shape images = {planes[0], planes[2], planes[3], planes[4]};
  return reshape != nullptr && planes[1] == 1 && reshape->input(0)->type().shape() == images
             ? reshape->input(0)
             : nullptr;
}

bool JoinImages(Graph& graph, Node* node) {
  const Node* concat = node->op() == Op::kReshape ? node->input(0)->producer() : nullptr;
  if (!IsTransposeBy(concat, {2, 0, 1, 3, 4})) return false;
  concat = ProducerOf(concat->input(0), Op::kConcat);
  if (concat == nullptr || !concat->output()->type().is_static() || concat->attrs().Int("axis") != 1)
    return false;
  const Shape volume = concat->output()->type().shape();
  if (volume[0] != 1 || node->output()->type().shape() != Shape{volume[2], volume[1], volume[3], volume[4]} ||
      OnlyUser(graph, concat->output()) == nullptr || OnlyUser(graph, node->input(0)) == nullptr ||
      std::ranges::none_of(concat->inputs(), ImagesOf)) {
    return false;
  }
  std::vector<Value*> images;
  for (Value* part : concat->inputs()) {
    images.push_back(ImagesOf(part));
    if (images.back() != nullptr) continue;
    Value* planes = AddBefore(graph, node, Op::kTranspose, {part}, {{"perm", Ints{2, 0, 1, 3, 4}}});
    const Shape shape = planes->type().shape();
    images.back() = AddBefore(graph, node, Op::kReshape, {planes},
                              {{"shape", Shape{shape[0], shape[2], shape[3], shape[4]}}});
  }
  ReplaceNode(graph, node, AddBefore(graph, node, Op::kConcat, std::move(images), {{"axis", int64_t{1}}}));
  return true;
}

}  // namespace

absl::StatusOr<bool> SwapPlanesPass(Graph& graph, const PassContext& context) {
  const bool joined = ForEachNode(graph, JoinImages);
  if (joined) RETURN_IF_ERROR(EliminatePass(graph, context).status());  // reshapes that met
  return ForEachNode(graph, SwapPlanes) || joined;
}

}  // namespace attune
