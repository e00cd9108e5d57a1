// Data movement: each element of the output is one of the input's, or a constant.
#include <algorithm>

#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {
namespace {

// Runs of axes of two shapes with equal products: indices need to be flattened within a run only.
struct Run {
  size_t from, from_end, to, to_end;
};

std::vector<Run> MatchingRuns(const Shape& from, const Shape& to) {
  std::vector<Run> runs;
  size_t a = 0, b = 0;
  while (a < from.size() || b < to.size()) {
    Run run{a, a, b, b};
    int64_t x = 1, y = 1;
    if (a < from.size()) x = from[a++];
    if (b < to.size()) y = to[b++];
    while (x != y) {
      if (x < y) {
        x *= from[a++];
      } else {
        y *= to[b++];
      }
    }
    // Trailing axes of size 1 have no partner.
    while (b == to.size() && a < from.size() && from[a] == 1) ++a;
    while (a == from.size() && b < to.size() && to[b] == 1) ++b;
    run.from_end = a;
    run.to_end = b;
    runs.push_back(run);
  }
  return runs;
}

Shape SubShape(const Shape& shape, size_t begin, size_t end) {
  return Shape(shape.begin() + static_cast<ptrdiff_t>(begin), shape.begin() + static_cast<ptrdiff_t>(end));
}

// The index in [0, size) of the element that position `at`, within [−pads, size + pads), shows.
Expr PadSource(const Expr& at, int64_t size, const std::string& mode) {
  if (mode == "wrap") return FloorMod(at, size);
  if (mode != "reflect" || size == 1) return Clamp(at, 0, size - 1);
  // Below 0 the mirror image is −at, beyond the end 2 (size − 1) − at; the pads are shorter than the axis.
  return Min(Max(at, -at), Expr(2 * (size - 1)) - at);
}

}  // namespace

absl::Status DefineIota(Definition& definition, const Node& node) {
  const Ints& steps = node.attrs().IntList("steps");
  definition.Define(node, node.output(), [&](const Indices& i) {
    Expr value(node.attrs().Int("start", 0));
    for (size_t d = 0; d < i.size(); ++d) value = value + i[d] * Expr(steps[d]);
    return CastTo(node.output()->type().dtype, value);
  });
  return absl::OkStatus();
}

absl::Status DefineReshape(Definition& definition, const Node& node) {
  const Value* x = node.input(0);
  const Shape from = x->type().shape(), to = node.output()->type().shape();
  const bool empty = std::find(from.begin(), from.end(), 0) != from.end();
  const std::vector<Run> runs = empty ? std::vector<Run>() : MatchingRuns(from, to);
  definition.Define(node, node.output(), [&](const Indices& i) {
    Indices at(from.size(), Expr(int64_t{0}));
    for (const Run& run : runs) {
      const Indices own(i.begin() + static_cast<ptrdiff_t>(run.to),
                        i.begin() + static_cast<ptrdiff_t>(run.to_end));
      const Expr flat = Flatten(own, SubShape(to, run.to, run.to_end));
      const Indices part = Unflatten(flat, SubShape(from, run.from, run.from_end));
      std::copy(part.begin(), part.end(), at.begin() + static_cast<ptrdiff_t>(run.from));
    }
    return definition.Read(x, at);
  });
  return absl::OkStatus();
}

absl::Status DefineTranspose(Definition& definition, const Node& node) {
  const Ints& perm = node.attrs().IntList("perm");
  definition.Define(node, node.output(), [&](const Indices& i) {
    Indices at(i.size());
    for (size_t d = 0; d < i.size(); ++d) at[static_cast<size_t>(perm[d])] = i[d];
    return definition.Read(node.input(0), at);
  });
  return absl::OkStatus();
}

absl::Status DefineBroadcast(Definition& definition, const Node& node) {
  definition.Define(node, node.output(),
                    [&](const Indices& i) { return definition.ReadBroadcast(node.input(0), i); });
  return absl::OkStatus();
}

absl::Status DefineSlice(Definition& definition, const Node& node) {
  const Ints &starts = node.attrs().IntList("starts"), &steps = node.attrs().IntList("steps");
  definition.Define(node, node.output(), [&](const Indices& i) {
    Indices at;
    for (size_t d = 0; d < i.size(); ++d) at.push_back(i[d] * Expr(steps[d]) + Expr(starts[d]));
    return definition.Read(node.input(0), at);
  });
  return absl::OkStatus();
}

// One stage per input, each for its range of the axis.
absl::Status DefineConcat(Definition& definition, const Node& node) {
  const int64_t axis = node.attrs().Int("axis");
  int64_t begin = 0;
  for (int n = 0; n < node.num_inputs(); ++n) {
    Part part;
    part.suffix = n == 0 ? "" : absl::StrCat(n);
    part.begins.assign(node.output()->type().dims.size(), 0);
    part.sizes = node.input(n)->type().shape();
    part.begins[static_cast<size_t>(axis)] = begin;
    const Expr first(begin);
    definition.DefinePart(node, node.output(), part, [&](const Indices& i) {
      return definition.Read(node.input(n), Replaced(i, axis, i[static_cast<size_t>(axis)] - first));
    });
    begin += part.sizes[static_cast<size_t>(axis)];
  }
  return absl::OkStatus();
}

absl::Status DefinePad(Definition& definition, const Node& node) {
  const Value* x = node.input(0);
  const Shape shape = x->type().shape();
  const Ints& pads = node.attrs().IntList("pads");
  const std::string mode = node.attrs().String("mode", "constant");
  const auto shifted = [&](const Indices& i) {
    Indices at;
    for (size_t d = 0; d < i.size(); ++d) at.push_back(i[d] - Expr(pads[d]));
    return at;
  };
  if (mode != "constant") {
    definition.Define(node, node.output(), [&](const Indices& i) {
      Indices at = shifted(i);
      for (size_t d = 0; d < at.size(); ++d) {
        if (pads[d] != 0 || pads[d + at.size()] != 0) at[d] = PadSource(at[d], shape[d], mode);
      }
      return definition.Read(x, at);
    });
    return absl::OkStatus();
  }
  // Fills everything, then copies the inside.
  const Expr fill = ConstOf(x->type().dtype, node.attrs().Number("value", 0));
  definition.DefinePart(node, node.output(), {.suffix = "fill", .begins = {}, .sizes = {}},
                        [&](const Indices&) { return fill; });
  const Part inside{
      .suffix = "", .begins = Ints(pads.begin(), pads.begin() + x->type().rank()), .sizes = shape};
  definition.DefinePart(node, node.output(), inside,
                        [&](const Indices& i) { return definition.Read(x, shifted(i)); });
  return absl::OkStatus();
}

absl::Status DefineLayoutTransform(Definition& definition, const Node& node) {
  definition.Define(node, node.output(), [&](const Indices& i) { return definition.Read(node.input(0), i); });
  return absl::OkStatus();
}

// Output channel c at (h, w) is input channel (h % b, w % b, c) (DCR) or (c, h % b, w % b) (CRD) at
// (h / b, w / b).
absl::Status DefineDepthToSpace(Definition& definition, const Node& node) {
  const int64_t block = node.attrs().Int("block"), channels = node.output()->type().dims[1].size;
  const bool dcr = node.attrs().String("mode", "DCR") == "DCR";
  definition.Define(node, node.output(), [&](const Indices& i) {
    const Expr within = FloorMod(i[2], block) * Expr(block) + FloorMod(i[3], block);
    const Expr channel = dcr ? within * Expr(channels) + i[1] : i[1] * Expr(block * block) + within;
    return definition.Read(node.input(0), {i[0], channel, FloorDiv(i[2], block), FloorDiv(i[3], block)});
  });
  return absl::OkStatus();
}

// Output channel (y, x, c) at (h, w) is input channel c at (h b + y, w b + x).
absl::Status DefineSpaceToDepth(Definition& definition, const Node& node) {
  const int64_t block = node.attrs().Int("block");
  const int64_t channels = std::max<int64_t>(node.input(0)->type().dims[1].size, 1);
  definition.Define(node, node.output(), [&](const Indices& i) {
    const Expr within = FloorDiv(i[1], channels);
    return definition.Read(node.input(0),
                           {i[0], FloorMod(i[1], channels), i[2] * Expr(block) + FloorDiv(within, block),
                            i[3] * Expr(block) + FloorMod(within, block)});
  });
  return absl::OkStatus();
}

// Reverses the first `length` elements of the time axis; the rest stays as it is.
absl::Status DefineReverseSequence(Definition& definition, const Node& node) {
  const auto batch_axis = static_cast<size_t>(node.attrs().Int("batch_axis"));
  const int64_t time_axis = node.attrs().Int("time_axis");
  const int64_t size = node.input(0)->type().dims[static_cast<size_t>(time_axis)].size;
  definition.Define(node, node.output(), [&](const Indices& i) {
    const Expr& time = i[static_cast<size_t>(time_axis)];
    const Expr given = CastTo(DType::kI64, definition.Read(node.input(1), {i[batch_axis]}));
    const Expr length = Clamp(given, 0, size);
    const Expr source = Select(time < length, length - Expr(int64_t{1}) - time, time);
    return definition.Read(node.input(0),
                           Replaced(i, time_axis, Clamp(source, 0, std::max<int64_t>(size - 1, 0))));
  });
  return absl::OkStatus();
}

}  // namespace attune
