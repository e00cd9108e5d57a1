#include <numeric>

#include "recipes.h"

namespace attune::graph_fuzz {
namespace {

// A value with at least `rank` dimensions.
Value* OfRank(GraphMaker& maker, int rank) {
  return maker.Any([rank](const Value& v) { return v.type().rank() >= rank; },
                   [&] {
                     Shape shape = maker.AnyShape();
                     while (std::ssize(shape) < rank) shape.push_back(maker.Extent());
                     return maker.New(maker.AnyType(), shape, 0);
                   });
}

// `elements` as a product of up to four factors.
Ints Factorize(GraphMaker& maker, int64_t elements) {
  Ints shape;
  while (elements > 1 && shape.size() < 3) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= elements && d <= 64; ++d) {
      if (elements % d == 0) divisors.push_back(d);
    }
    shape.push_back(divisors[static_cast<size_t>(maker.Pick(std::ssize(divisors)))]);
    elements /= shape.back();
  }
  shape.push_back(elements);
  return shape;
}

}  // namespace

Value* AddReshape(GraphMaker& maker, Op op) {
  Value* x = maker.AnyValue();
  const Shape from = x->type().shape();
  Ints shape = from;
  switch (maker.Pick(5)) {
    case 0:  // flattens the tail
      if (from.size() > 1) {
        const auto kept = static_cast<size_t>(maker.Pick(std::ssize(from)));
        shape.resize(kept);
        shape.push_back(std::accumulate(from.begin() + static_cast<int64_t>(kept), from.end(), int64_t{1},
                                        std::multiplies<>()));
      }
      break;
    case 1:  // an axis of 1 more
      shape.insert(shape.begin() + maker.Pick(std::ssize(shape) + 1), 1);
      break;
    case 2:  // no axes of 1
      std::erase(shape, 1);
      break;
    default:
      if (x->type().num_elements() > 0) shape = Factorize(maker, x->type().num_elements());
      break;
  }
  return maker.Add(op, {x}, {{"shape", shape}});
}

Value* AddTranspose(GraphMaker& maker, Op op) {
  Value* x = OfRank(maker, 2);
  Ints perm(static_cast<size_t>(x->type().rank()));
  std::iota(perm.begin(), perm.end(), 0);
  if (perm.size() == 4 && maker.OneIn(2)) {
    perm = maker.OneIn(2) ? Ints{0, 2, 3, 1} : Ints{0, 3, 1, 2};
  } else {
    for (int64_t i = std::ssize(perm) - 1; i > 0; --i)
      std::swap(perm[static_cast<size_t>(i)], perm[static_cast<size_t>(maker.Pick(i + 1))]);
  }
  Value* out = maker.Add(op, {x}, {{"perm", perm}});
  if (out != nullptr && maker.OneIn(8)) {
    Ints back(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    Value* again = maker.Add(Op::kTranspose, {out}, {{"perm", back}});
    if (again != nullptr) maker.StateSame(x, again);
  }
  return out;
}

// Numbers of which f16 and i8 hold each.
Value* AddIota(GraphMaker& maker, Op op) {
  constexpr DType kTypes[] = {DType::kI64, DType::kI32, DType::kF32, DType::kF16, DType::kBool};
  Ints shape, steps;
  for (int64_t rank = maker.Pick(4); rank > 0; --rank) {
    shape.push_back(maker.Extent());
    steps.push_back(maker.Pick(5) - 2);
  }
  return maker.Add(op, {},
                   {{"shape", shape},
                    {"start", maker.Pick(9) - 4},
                    {"steps", steps},
                    {"to", kTypes[maker.Pick(std::ssize(kTypes))]}});
}

Value* AddBroadcast(GraphMaker& maker, Op op) {
  Value* x = maker.AnyValue();
  Ints shape = x->type().shape();
  for (int64_t& size : shape) {
    if (size == 1 && maker.OneIn(2)) size = maker.Extent();
  }
  if (maker.OneIn(2)) shape.insert(shape.begin(), maker.Extent());
  return maker.Add(op, {x}, {{"shape", shape}});
}

Value* AddSlice(GraphMaker& maker, Op op) {
  Value* x = OfRank(maker, 1);
  const Shape shape = x->type().shape();
  Ints starts(shape.size(), 0), sizes = shape, steps(shape.size(), 1);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 || !maker.OneIn(2)) continue;
    const int64_t step = maker.OneIn(3) ? 1 + maker.Pick(3) : 1;
    sizes[i] = 1 + maker.Pick((shape[i] - 1) / step + 1);
    starts[i] = maker.Pick(shape[i] - (sizes[i] - 1) * step);
    steps[i] = step;
    if (maker.OneIn(6)) {  // backwards over the same elements
      starts[i] += (sizes[i] - 1) * step;
      steps[i] = -step;
    }
  }
  return maker.Add(op, {x}, {{"starts", starts}, {"sizes", sizes}, {"steps", steps}});
}

Value* AddConcat(GraphMaker& maker, Op op) {
  Value* first = OfRank(maker, 1);
  const auto axis =
      static_cast<size_t>(first->type().rank() > 1 && maker.OneIn(2) ? 1 : maker.Pick(first->type().rank()));
  std::vector<Value*> inputs = {first};
  const int64_t count = maker.OneIn(8) ? 1 : 2 + maker.Pick(3);
  while (std::ssize(inputs) < count) {
    if (maker.OneIn(6)) {
      inputs.push_back(inputs[static_cast<size_t>(maker.Pick(std::ssize(inputs)))]);
      continue;
    }
    const auto continues = [&](const Value& v) {
      if (v.type().dtype != first->type().dtype || v.type().rank() != first->type().rank()) return false;
      for (size_t d = 0; d < v.type().dims.size(); ++d) {
        if (d != axis && v.type().dims[d] != first->type().dims[d]) return false;
      }
      return true;
    };
    inputs.push_back(maker.Any(continues, [&] {
      Shape shape = first->type().shape();
      shape[axis] = maker.Extent();
      return maker.New(first->type().dtype, shape);
    }));
  }
  if (maker.OneIn(2)) std::swap(inputs.front(), inputs.back());
  return maker.Add(op, inputs, {{"axis", static_cast<int64_t>(axis)}});
}

Value* AddPad(GraphMaker& maker, Op op) {
  Value* x = OfRank(maker, 1);
  const Shape shape = x->type().shape();
  Ints pads(2 * shape.size(), 0);
  const auto mode = maker.OneOf<const char*>({"constant", "constant", "reflect", "edge", "wrap"});
  for (size_t i = 0; i < pads.size(); ++i) {
    const int64_t limit = std::min<int64_t>(shape[i % shape.size()], 4);
    if (maker.OneIn(2) && limit > 0) pads[i] = maker.Pick(limit);
  }
  Attributes attrs = {{"pads", pads}, {"mode", std::string(mode)}};
  if (maker.OneIn(2)) {
    const DType dtype = x->type().dtype;
    const bool edge = IsInt(dtype) && (maker.integers() || maker.OneIn(2));
    attrs.Set("value", edge ? maker.Edge(dtype) : maker.OneOf<ExactNumber>({-1, 0.5, 3}));
  }
  return maker.Add(op, {x}, std::move(attrs));
}

Value* AddDepthSpace(GraphMaker& maker, Op op) {
  const int64_t block = 1 + maker.Pick(3);
  const bool to_space = op == Op::kDepthToSpace;
  const auto fits = [&](const Value& v) {
    if (v.type().rank() != 4 || !v.type().is_static()) return false;
    const Shape s = v.type().shape();
    return to_space ? s[1] % (block * block) == 0 : s[2] % block == 0 && s[3] % block == 0;
  };
  Value* x = maker.Any(fits, [&] {
    Shape shape = {1 + maker.Pick(2), 1 + maker.Pick(9), 1 + maker.Pick(5), 1 + maker.Pick(5)};
    if (to_space) shape[1] *= block * block;
    if (!to_space) shape[2] *= block, shape[3] *= block;
    return maker.New(maker.AnyType(), shape, 0);
  });
  Attributes attrs = {{"block", block}};
  if (to_space && maker.OneIn(2)) attrs.Set("mode", std::string("CRD"));
  return maker.Add(op, {x}, std::move(attrs));
}

Value* AddReverseSequence(GraphMaker& maker, Op op) {
  Value* x = OfRank(maker, 2);
  const int64_t batch = maker.Pick(x->type().rank());
  const int64_t time = (batch + 1 + maker.Pick(x->type().rank() - 1)) % x->type().rank();
  const Shape shape = x->type().shape();
  Value* lengths =
      maker.Indices({shape[static_cast<size_t>(batch)]}, shape[static_cast<size_t>(time)] + 1, false);
  if (lengths == nullptr) return nullptr;
  return maker.Add(op, {x, lengths}, {{"batch_axis", batch}, {"time_axis", time}});
}

}  // namespace attune::graph_fuzz
