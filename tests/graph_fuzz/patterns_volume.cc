#include "pattern_builder.h"
#include "patterns.h"

namespace attune::graph_fuzz {
namespace {

// A convolution or a pool over `depth` planes and over `size` rows and columns, padded so that the size
// stays with stride 1.
Value* Layer(GraphMaker& maker, PatternBuilder& b, Value* x, int64_t depth, int64_t size, bool is_pool) {
  if (x == nullptr) return nullptr;
  const Ints kernel = {depth, size, size},
             pads = {depth / 2, size / 2, size / 2, depth / 2, size / 2, size / 2};
  const int64_t stride = 1 + maker.Pick(2);
  const Ints strides = {depth > 1 ? stride : 1, size > 1 ? stride : 1, size > 1 ? stride : 1};
  if (is_pool) return b.Add(Op::kMaxPool, {x}, {{"kernel", kernel}, {"strides", strides}, {"pads", pads}});
  const int64_t channels = maker.Channels();
  Value* weights = b.Weights(x, {channels, PatternBuilder::ChannelsOf(x), depth, size, size});
  return b.Add(Op::kConv, {x, weights}, {{"strides", strides}, {"pads", pads}});
}

}  // namespace

void AddVolumes(GraphMaker& maker) {
  PatternBuilder b(maker);
  const Shape shape = {maker.OneIn(4) ? 2 : 1, maker.Channels(), 1 + maker.Pick(5), 1 + maker.Pick(7),
                       1 + maker.Pick(7)};
  Value* x = maker.New(DType::kF32, shape, 0);
  for (int64_t layers = 2 + maker.Pick(4); layers > 0 && x != nullptr; --layers) {
    const int64_t depth = maker.OneOf<int64_t>({1, 1, 3, 3, 2}), size = maker.OneOf<int64_t>({1, 1, 3, 3, 2});
    Value* y = Layer(maker, b, x, depth, size, /*is_pool=*/maker.OneIn(5));
    if (y != nullptr && maker.OneIn(3)) y = b.Activation(y);
    if (y != nullptr && maker.OneIn(4)) {  // beside another branch, as in an Inception network of volumes
      Value* z = Layer(maker, b, y, 1, 1, false);
      z = maker.OneIn(2) ? Layer(maker, b, z, 3, 1, false) : z;
      const bool fits = z != nullptr && z->type().dims[2].size == y->type().dims[2].size &&
                        z->type().dims[3].size == y->type().dims[3].size &&
                        z->type().dims[4].size == y->type().dims[4].size;
      if (fits)
        y = b.Add(Op::kConcat, maker.OneIn(2) ? std::vector{y, z} : std::vector{z, y},
                  {{"axis", int64_t{1}}});
    }
    if (y != nullptr && y->type() == x->type()) y = b.Add(Op::kAdd, {x, y});
    x = y;
  }
}

}  // namespace attune::graph_fuzz
