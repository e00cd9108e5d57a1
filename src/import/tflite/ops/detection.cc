// Detections from a network's raw boxes, and non-max suppression.
//
// Greedy suppression is a loop with one step per box that may be picked, over all classes at once: for each
// class, a step picks the best remaining box, and removes it and all boxes that overlap it. The result has
// a fixed size; entries without a picked box have the lowest score.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "flatbuffers/flexbuffers.h"
#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

constexpr float kNone = std::numeric_limits<float>::lowest();

struct Picks {
  Value* index;  // [C, D] i64
  Value* score;  // [C, D], kNone if nothing is left
};

// Coordinate `i` of boxes [n, 4], which have y and x of two corners.
Value* Edge(Emitter& e, Value* boxes, int64_t i) { return e.SliceAxis(boxes, 1, i, 1); }

// (y2 - y1) (x2 - x1), [n, 1]
Value* Areas(Emitter& e, Value* boxes) {
  return e.Mul(e.Sub(Edge(e, boxes, 2), Edge(e, boxes, 0)), e.Sub(Edge(e, boxes, 3), Edge(e, boxes, 1)));
}

// The intersection over union of each box in `picked` [C, 4] with each in `all` [N, 4]: [C, N]; 0 for a box
// without an area.
Value* Overlaps(Emitter& e, Value* picked, Value* all) {
  Value* across = e.Transpose(all, {1, 0});
  const auto length = [&](int64_t begin, int64_t end) {
    const auto edge = [&](int64_t i) { return e.SliceAxis(across, 0, i, 1); };
    Value* size = e.Sub(e.Min(Edge(e, picked, end), edge(end)), e.Max(Edge(e, picked, begin), edge(begin)));
    return e.Max(size, e.ScalarLike(size, 0));
  };
  Value* both = e.Mul(length(0, 2), length(1, 3));
  Value* own = Areas(e, picked);
  Value* other = e.Transpose(Areas(e, all), {1, 0});
  Value* either = e.Sub(e.Add(own, other), both);
  Value* flat = e.Emit(Op::kLessEqual, {e.Min(own, other), e.ScalarLike(own, 0)});
  return e.Where(flat, e.ScalarLike(both, 0), e.Div(both, either));
}

// (iteration, condition, scores [C, N], index [C, D], score [C, D], boxes [N, 4]) → (condition, …)
std::unique_ptr<Graph> PickBody(OpContext& c, const std::vector<Value*>& carried, double threshold,
                                Op overlaps) {
  Graph* region = c.NewRegion("pick");
  Emitter e = c.Within(region);
  Value* step = region->AddInput("iteration", TensorType(DType::kI64, Shape{}));
  Value* condition = region->AddInput("condition", TensorType(DType::kBool, Shape{}));
  const char* const names[] = {"scores", "index", "score", "boxes"};
  std::vector<Value*> in;
  for (size_t i = 0; i < carried.size(); ++i) in.push_back(region->AddInput(names[i], carried[i]->type()));
  const int64_t classes = e.DimOf(in[0], 0);
  const int64_t boxes = e.DimOf(in[0], 1);
  Value* best = e.Emit(Op::kArgMax, {in[0]}, {{"axis", int64_t{1}}});
  Value* score = e.Reduce(Op::kReduceMax, in[0], {1});
  Value* picked = e.Gather(in[3], e.Reshape(best, {classes}), 0);
  Value* covered = e.Emit(overlaps, {Overlaps(e, picked, in[3]), e.ScalarLike(picked, threshold)});
  Value* itself = e.Emit(Op::kEqual, {e.Reshape(e.Count(DType::kI64, boxes), {1, boxes}), best});
  Value* gone = e.Emit(Op::kOr, {covered, itself});
  Value* place = e.Emit(Op::kEqual, {e.Count(DType::kI64, e.DimOf(in[1], 1)), step});
  region->AddOutput("again", condition);
  region->AddOutput("scores", e.Where(gone, e.ScalarLike(score, static_cast<double>(kNone)), in[0]));
  region->AddOutput("index", e.Where(place, best, in[1]));
  region->AddOutput("score", e.Where(place, score, in[2]));
  region->AddOutput("boxes", in[3]);
  return region->Clone();
}

// The best `count` boxes of each class that do not overlap an earlier one by more than the threshold, or
// (kGreaterEqual) by at least the threshold. `scores` [C, N] are kNone for boxes that must not be picked.
Picks PickGreedily(OpContext& c, Value* boxes, Value* scores, int64_t count, double threshold, Op overlaps) {
  const Shape shape = {c.DimOf(scores, 0), count};
  const std::vector<Value*> carried = {scores, c.Filled(DType::kI64, 0, shape),
                                       c.Filled(DType::kF32, static_cast<double>(kNone), shape), boxes};
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(PickBody(c, carried, threshold, overlaps));
  std::vector<Value*> operands = {c.Integer(count), c.Scalar(DType::kBool, 1)};
  operands.insert(operands.end(), carried.begin(), carried.end());
  Node* loop = c.EmitNode(Op::kLoop, std::move(operands), {}, -1, std::move(regions));
  return {loop->output(1), loop->output(2)};
}

// Replaces scores by kNone that are (kLess) below the threshold, or (kLessEqual) not above it.
Value* DropBelow(OpContext& c, Value* scores, double threshold, Op below) {
  Value* dropped = c.Emit(below, {scores, c.ScalarLike(scores, threshold)});
  return c.Where(dropped, c.ScalarLike(scores, static_cast<double>(kNone)), scores);
}

Value* IsPicked(OpContext& c, Value* score) {
  return c.Emit(Op::kGreater, {score, c.ScalarLike(score, static_cast<double>(kNone))});
}

struct PostProcess {
  int64_t max_detections;
  int64_t classes_each;  // the maximum number of classes to report per box
  int64_t per_class;
  int64_t num_classes;
  bool regular;
  double score_threshold;
  double iou_threshold;
  double scales[4];  // for y, x, height and width
};

PostProcess ReadPostProcess(OpContext& c) {
  const std::string_view bytes = c.CustomOptions();
  // A copy is aligned for all of its numbers.
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  if (copy.size() < 3 || !flexbuffers::VerifyBuffer(copy.data(), copy.size()))
    Invalid("its options are damaged");
  const flexbuffers::Reference root = flexbuffers::GetRoot(copy.data(), copy.size());
  if (!root.IsMap()) Invalid("its options are not a map");
  const flexbuffers::Map map = root.AsMap();
  const auto number = [&map](const char* name, double absent) {
    const flexbuffers::Reference value = map[name];
    return value.IsNull() ? absent : value.AsDouble();
  };
  const auto count = [&](const char* name, double absent) {
    const double value = number(name, absent);
    if (!(value >= 1 && value <= 1 << 20)) Invalid("its option ", name, " is ", value);
    return static_cast<int64_t>(value);
  };
  PostProcess p{
      .max_detections = count("max_detections", 0),
      .classes_each = count("max_classes_per_detection", 0),
      .per_class = count("detections_per_class", 100),
      .num_classes = count("num_classes", 0),
      .regular = !map["use_regular_nms"].IsNull() && map["use_regular_nms"].AsBool(),
      .score_threshold = number("nms_score_threshold", 0),
      .iou_threshold = number("nms_iou_threshold", 0),
      .scales = {number("y_scale", 1), number("x_scale", 1), number("h_scale", 1), number("w_scale", 1)}};
  for (double scale : p.scales) {
    if (!(scale > 0)) Invalid("its boxes have the scale ", scale);
  }
  return p;
}

// Decodes centers and sizes relative to anchors to corners: [N, 4].
Value* DecodeBoxes(OpContext& c, const PostProcess& p) {
  const Shape raw = c.InShape(0);
  if (raw.size() != 3 || raw[0] != 1 || raw[2] < 4 || c.InShape(2) != Shape{raw[1], 4}) {
    Invalid("its boxes are ", ToString(c.Stored(0)->type()), ", its anchors ", ToString(c.Stored(2)->type()));
  }
  Value* encoded = c.Reshape(c.In(0), {raw[1], raw[2]});
  Value* anchors = c.In(2);
  const auto part = [&](int64_t i) { return c.Div(Edge(c, encoded, i), p.scales[i]); };
  const auto corner = [&](int64_t axis, double sign) {
    Value* size = Edge(c, anchors, axis + 2);
    Value* center = c.Add(c.Mul(part(axis), size), Edge(c, anchors, axis));
    Value* half = c.Mul(c.Mul(c.Emit(Op::kExp, {part(axis + 2)}), size), 0.5);
    return sign < 0 ? c.Sub(center, half) : c.Add(center, half);
  };
  return c.Concat({corner(0, -1), corner(1, -1), corner(0, 1), corner(1, 1)}, 1);
}

// The scores of the classes without the background, which is the first: [N, classes].
Value* ClassScores(OpContext& c, const PostProcess& p) {
  const Shape shape = c.InShape(1);
  if (shape.size() != 3 || shape[0] != 1 || shape[1] != c.InShape(0)[1] || shape[2] < p.num_classes ||
      shape[2] - p.num_classes > 1) {
    Invalid("its scores are ", ToString(c.Stored(1)->type()), " for ", p.num_classes, " classes");
  }
  Value* scores = c.Reshape(c.In(1), {shape[1], shape[2]});
  return c.SliceAxis(scores, 1, shape[2] - p.num_classes, p.num_classes);
}

// The outputs for boxes [D, 4] with classes and scores [D]; entries that were not picked, and those up to
// `size`, are zero.
Outputs Detections(OpContext& c, Value* boxes, Value* classes, Value* scores, int64_t size) {
  Value* any = IsPicked(c, scores);
  const int64_t count = c.DimOf(scores, 0);
  const auto finish = [&](Value* x, const Shape& shape) {
    Value* mask = c.Reshape(any, x->type().rank() == 2 ? Shape{count, 1} : Shape{count});
    Ints pads(2 * x->type().rank(), 0);
    pads[x->type().rank()] = size - count;
    return c.Reshape(c.Pad(c.Where(mask, x, c.ScalarLike(x, 0)), pads), shape);
  };
  return {finish(boxes, {1, size, 4}), finish(c.Cast(classes, DType::kF32), {1, size}),
          finish(scores, {1, size})};
}

// Suppresses within each class separately, and keeps the best of all; of equal ones, those of the lower
// class.
Outputs RegularDetections(OpContext& c, const PostProcess& p, Value* boxes, Value* scores) {
  Value* eligible = DropBelow(c, c.Transpose(scores, {1, 0}), p.score_threshold, Op::kLess);
  const Picks picks = PickGreedily(c, boxes, eligible, p.per_class, p.iou_threshold, Op::kGreater);
  const int64_t found = Multiply(p.num_classes, p.per_class);
  const int64_t kept = std::min(p.max_detections, found);
  Node* best = c.EmitNode(Op::kTopK, {c.Reshape(picks.score, {found})}, {{"axis", int64_t{0}}, {"k", kept}});
  Value* place = best->output(1);
  Value* index = c.Gather(c.Reshape(picks.index, {found}), place, 0);
  Value* classes = c.Div(place, c.Integer(p.per_class));
  Outputs outputs = Detections(c, c.Gather(boxes, index, 0), classes, best->output(0),
                               Multiply(p.max_detections, p.classes_each));
  outputs.push_back(
      c.Reshape(c.Reduce(Op::kReduceSum, c.Cast(IsPicked(c, best->output(0)), DType::kF32), {0}), {1}));
  return outputs;
}

// Suppresses by the best class of each box, and reports each box for its best classes.
Outputs FastDetections(OpContext& c, const PostProcess& p, Value* boxes, Value* scores) {
  const int64_t each = std::min(p.classes_each, p.num_classes);
  Node* best = c.EmitNode(Op::kTopK, {scores}, {{"axis", int64_t{1}}, {"k", each}});
  Value* eligible = c.Transpose(c.SliceAxis(best->output(0), 1, 0, 1), {1, 0});
  eligible = DropBelow(c, eligible, p.score_threshold, Op::kLess);
  const Picks picks = PickGreedily(c, boxes, eligible, p.max_detections, p.iou_threshold, Op::kGreater);
  Value* index = c.Reshape(picks.index, {p.max_detections});
  Value* any = c.Reshape(IsPicked(c, picks.score), {p.max_detections, 1});
  const int64_t found = Multiply(p.max_detections, each);
  const auto flat = [&](Value* x) { return c.Reshape(x, {found}); };
  Value* picked_scores = c.Gather(best->output(0), index, 0);
  picked_scores = c.Where(any, picked_scores, c.ScalarLike(picked_scores, static_cast<double>(kNone)));
  Value* repeated = c.Broadcast(c.Unsqueeze(c.Gather(boxes, index, 0), {1}), {p.max_detections, each, 4});
  Outputs outputs = Detections(c, c.Reshape(repeated, {found, 4}), flat(c.Gather(best->output(1), index, 0)),
                               flat(picked_scores), Multiply(p.max_detections, p.classes_each));
  outputs.push_back(c.Reshape(c.Reduce(Op::kReduceSum, c.Cast(any, DType::kF32), {0}), {1}));
  return outputs;
}

// (boxes [N, 4], scores [N], maximum count, overlap threshold, score threshold) → indices and scores [D],
// count.
Outputs Suppress(OpContext& c) {
  const Shape shape = c.InShape(0);
  if (shape.size() != 2 || shape[1] != 4) Invalid("its boxes are ", ToString(c.Stored(0)->type()));
  const int64_t count = CheckedSize(c.KnownInt(2, "number of boxes"), "number of boxes", 1);
  Value* boxes = c.Stored(0);
  // The two corners may have any order.
  const auto corner = [&](int64_t i, Op op) {
    return c.Emit(op, {Edge(c, boxes, i), Edge(c, boxes, i + 2)});
  };
  boxes = c.Concat({corner(0, Op::kMin), corner(1, Op::kMin), corner(0, Op::kMax), corner(1, Op::kMax)}, 1);
  Value* scores = DropBelow(c, c.Reshape(c.Stored(1), {1, shape[0]}),
                            c.KnownScalar(4, "score threshold").ToDouble(), Op::kLessEqual);
  const Picks picks = PickGreedily(c, boxes, scores, count, c.KnownScalar(3, "overlap threshold").ToDouble(),
                                   Op::kGreaterEqual);
  Value* any = c.Reshape(IsPicked(c, picks.score), {count});
  const auto kept = [&](Value* x) {
    x = c.Reshape(x, {count});
    return c.Where(any, x, c.ScalarLike(x, 0));
  };
  Value* total = c.Reduce(Op::kReduceSum, c.Cast(any, DType::kI32), {0}, false);
  return {c.Cast(kept(picks.index), DType::kI32), kept(picks.score), total};
}

}  // namespace

// (boxes [1, N, 4], scores [1, N, classes with or without background], anchors [N, 4]).
Outputs DetectionPostProcess(OpContext& c) {
  const PostProcess p = ReadPostProcess(c);
  Value* boxes = DecodeBoxes(c, p);
  Value* scores = ClassScores(c, p);
  return p.regular ? RegularDetections(c, p, boxes, scores) : FastDetections(c, p, boxes, scores);
}

Outputs NonMaxSuppressionV4(OpContext& c) {
  const Outputs results = Suppress(c);
  return {results[0], results[2]};
}

// Soft suppression would reduce the scores of overlapping boxes; with a spread of 0, they are removed.
Outputs NonMaxSuppressionV5(OpContext& c) {
  if (c.KnownScalar(5, "spread") != 0) Unsupported("soft suppression");
  return Suppress(c);
}

}  // namespace attune::tflite
