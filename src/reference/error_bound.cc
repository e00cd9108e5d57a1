#include "reference/error_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "reference/convert_floats.h"
#include "reference/interpreter.h"
#include "reference/kernels.h"
#include "reference/rounding.h"
#include "reference/values.h"

namespace attune {
namespace {

using reference::ModelRounding;
using reference::RoundingModel;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A result may be off by this many deviations.
constexpr double kDeviations = 8;

// The type of each value before floats were converted to f64.
using Types = std::unordered_map<const Value*, DType>;

void CollectTypes(const Graph& graph, const Graph& converted, Types& types) {
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    types[converted.inputs()[i].get()] = graph.inputs()[i]->type().dtype;
  }
  auto other = converted.nodes().begin();
  for (const auto& node : graph.nodes()) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      types[(*other)->output(i)] = node->output(i)->type().dtype;
    }
    for (int i = 0; i < node->num_regions(); ++i) {
      CollectTypes(node->region(i), (*other)->region(i), types);
    }
    ++other;
  }
}

// The inputs, without noise, of the nodes that jump, in the order of execution.
struct Visit {
  const Node* node;
  std::vector<Tensor> inputs;
};

// Uniform noise in ±(relative |x| + absolute + least).
struct Noise {
  double relative = 0;
  double absolute = 0;
  double least = 0;  // for values other than 0: below the smallest normal number, precision is lower or lost
  // Values that this type represents exactly get no noise, since they were not rounded. kBool: all get
  // noise.
  DType exact = DType::kBool;
  bool keeps_integers = false;
};

// Evaluates nodes with the noise for one run.
class NoisyEvaluator {
 public:
  NoisyEvaluator(const Types& types, const std::vector<Visit>& visits, const NetworkPrecision& precision,
                 uint64_t seed, double sign)
      : types_(types), visits_(visits), precision_(precision), random_(seed), sign_(sign) {}

  absl::StatusOr<std::vector<Tensor>> Evaluate(const Node& node, const std::vector<Tensor>& inputs) {
    const RoundingModel model = ModelRounding(node);
    std::vector<Tensor> noisy = inputs;
    if (model.jumps) RETURN_IF_ERROR(Leap(node, noisy));
    const bool exact = model.kind == Rounding::kNone || StaysInteger(model, noisy);
    if (!exact && model.kind != Rounding::kOnce) {
      for (size_t i = 0; i < noisy.size(); ++i) {
        if (noisy[i].data() == nullptr || !IsFloat(noisy[i].dtype())) continue;
        noisy[i] = Add(noisy[i], OfInput(node, model, static_cast<int>(i), noisy[i]));
      }
    }
    ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                     model.centers ? EvaluateOffCenter(node, model, noisy) : EvaluateNode(node, noisy));
    if (!exact && (node.op() == Op::kReduceMean || node.op() == Op::kReduceSum) && IsFloat(noisy[0].dtype()))
      RETURN_IF_ERROR(AddSharedRounding(node, model.terms, noisy[0], outputs[0]));
    for (int i = 0; i < node.num_outputs(); ++i) {
      if (!IsFloat(outputs[static_cast<size_t>(i)].dtype())) continue;
      if (exact && !IsNarrowed(TypeOf(node.output(i)))) continue;
      outputs[static_cast<size_t>(i)] = Add(outputs[static_cast<size_t>(i)], OfOutput(node, model, i, exact));
    }
    return outputs;
  }

 private:
  DType TypeOf(const Value* value) const { return types_.at(value); }
  bool IsNarrowed(DType dtype) const { return dtype == DType::kF32 && precision_.narrowest != DType::kF32; }
  // The relative error of a split operand: the remainder after its two parts, 2^-17, plus half of the
  // product of the low parts, which is not computed.
  static constexpr double kSplitOperand = 0x1p-16;
  bool IsSplitInput(const Node& node, int i, DType dtype) const {
    const bool is_product =
        node.op() == Op::kConv || node.op() == Op::kConvTranspose || node.op() == Op::kMatMul;
    return precision_.splits_products && is_product && i < 2 && dtype == DType::kF32;
  }
  // The types in which values of `dtype` are stored and computed.
  DType Stored(DType dtype) const { return IsNarrowed(dtype) ? precision_.narrowest : dtype; }
  static DType Computed(DType dtype) { return dtype == DType::kF64 ? DType::kF64 : DType::kF32; }

  // A sum of n terms has an error like that of √n/4 roundings of each term, and of the sum itself if the
  // terms have the same sign; uniform noise has a standard deviation of 1/√3 of its bound.
  Noise OfInput(const Node& node, const RoundingModel& model, int i, const Tensor& input) const {
    const DType dtype = TypeOf(node.input(i));
    const double unit = UnitRoundoff(Computed(dtype));
    Noise noise;
    noise.relative = (model.kind == Rounding::kAdd ? 1 : 2) * unit;
    if (IsNarrowed(dtype)) noise.relative += UnitRoundoff(precision_.narrowest);
    noise.least = SmallestNormal(Computed(dtype));
    if (model.kind == Rounding::kSum) noise.relative += std::sqrt(model.terms) / 2 * unit;
    if (model.winograd && i == 0) {
      constexpr double kTransforms = 8;  // docs/decisions/winograd.md
      noise.relative *= kTransforms;
      noise.absolute = noise.relative * RootMeanSquare(input);
    }
    // For a negative base, the exponent decides the sign of the power, and whether it is a number at all.
    noise.keeps_integers = node.op() == Op::kPow && i == 1;
    if (IsSplitInput(node, i, dtype)) noise.relative += kSplitOperand;
    // Leap() does not enlarge the noise of the node's own computation, so this does.
    if (model.jumps) noise.relative *= kDeviations;
    return noise;
  }

  Noise OfOutput(const Node& node, const RoundingModel& model, int i, bool exact) const {
    const DType dtype = TypeOf(node.output(i));
    const double unit = UnitRoundoff(Computed(dtype));
    Noise noise;
    noise.relative = UnitRoundoff(Stored(dtype));
    noise.least = SmallestNormal(Stored(dtype));
    if (exact || model.kind == Rounding::kOnce) {
      noise.exact = Stored(dtype);
    } else {
      if (model.kind != Rounding::kAdd) noise.relative += 2 * unit;
      if (model.kind == Rounding::kSum) noise.relative += std::sqrt(model.terms) / 2 * unit;
      noise.absolute = 2 * model.absolute * unit;
    }
    return noise;
  }

  // Rounding of a mean moves all elements that it is subtracted from the same way, and cancels in the mean of
  // elements that move at random.
  absl::StatusOr<std::vector<Tensor>> EvaluateOffCenter(const Node& node, const RoundingModel& model,
                                                        const std::vector<Tensor>& inputs) {
    const double unit = UnitRoundoff(Computed(TypeOf(node.input(0))));
    return reference::EvaluateOffCenter(node, inputs, [&](double mean, double deviation) {
      const double random = (2 + std::sqrt(model.terms) / 2) * unit;
      return Uniform() * mean * (random + SharedRounding(model.terms, mean, deviation, unit));
    });
  }

  // Adds the error of sums or means of nearly equal numbers.
  absl::Status AddSharedRounding(const Node& node, double terms, const Tensor& input, Tensor& output) {
    Tensor squares(input.dtype(), input.shape());
    const auto from = input.as<double>();
    std::transform(from.begin(), from.end(), squares.as_mutable<double>().begin(),
                   [](double x) { return x * x; });
    ASSIGN_OR_RETURN(const std::vector<Tensor> sums, EvaluateNode(node, {squares}));
    const double count = node.op() == Op::kReduceSum ? terms : 1;
    const double unit = UnitRoundoff(Computed(TypeOf(node.input(0))));
    const auto to = output.as_mutable<double>();
    for (size_t i = 0; i < to.size(); ++i) {
      const double mean = to[i] / count;
      const double variance = std::max(sums[0].as<double>()[i] / count - mean * mean, 0.0);
      const double by = Uniform() * to[i] * SharedRounding(terms, mean, std::sqrt(variance), unit);
      if (std::isfinite(by)) to[i] += by;
    }
    return absl::OkStatus();
  }

  // Numbers that differ by less than the last place of their sum are all rounded the same way when they are
  // added to it. Then the relative error of the sum grows with their number, and not with its root.
  static double SharedRounding(double terms, double mean, double deviation, double unit) {
    const double last_place = 4 * terms * unit * std::fabs(mean);
    return terms / 8 * unit * (deviation > last_place ? last_place / deviation : 1);
  }

  double Uniform() { return sign_ * (2 * random_.Uniform() - 1); }

  // In f16, this is half of the spacing of subnormal numbers, the rounding error; in other types,
  // subnormals may be flushed to zero.
  static double SmallestNormal(DType dtype) {
    return dtype == DType::kF16 ? 0x1p-14 * 0x1p-11 : dtype == DType::kF64 ? 0x1p-1022 : 0x1p-126;
  }

  Tensor Add(const Tensor& tensor, const Noise& noise) {
    std::vector<double> values = reference::Load<double>(tensor);
    const bool keeps = noise.exact != DType::kBool;
    for (double& value : values) {
      const double by = Uniform();
      if (!std::isfinite(value) || (value == 0 && noise.absolute == 0)) continue;
      if (keeps && Represents(noise.exact, value)) continue;
      if (noise.keeps_integers && value == std::nearbyint(value)) continue;
      value += by * (noise.relative * std::fabs(value) + noise.absolute + noise.least);
    }
    Tensor out(tensor.dtype(), tensor.shape());
    std::copy(values.begin(), values.end(), out.as_mutable<double>().begin());
    return out;
  }

  static bool Represents(DType dtype, double value) {
    switch (dtype) {
      case DType::kF64:
        return true;
      case DType::kF32:
        return static_cast<double>(static_cast<float>(value)) == value;
      default:
        return Tensor::Scalar(dtype, value).ToDouble(0) == value;
    }
  }

  // Moves the inputs kDeviations times as far from their values without noise. Fails if this run took
  // another path.
  absl::Status Leap(const Node& node, std::vector<Tensor>& inputs) {
    if (next_ >= visits_.size() || visits_[next_].node != &node) return Diverged();
    const std::vector<Tensor>& quiet = visits_[next_++].inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].data() == nullptr || !IsFloat(inputs[i].dtype())) continue;
      if (inputs[i].shape() != quiet[i].shape()) return Diverged();
      Tensor out(inputs[i].dtype(), inputs[i].shape());
      const auto from = quiet[i].as<double>(), to = inputs[i].as<double>();
      const auto leapt = out.as_mutable<double>();
      for (size_t k = 0; k < from.size(); ++k) {
        const double by = to[k] - from[k];
        leapt[k] = std::isfinite(by) ? from[k] + kDeviations * by : to[k];
      }
      inputs[i] = std::move(out);
    }
    return absl::OkStatus();
  }

  static absl::Status Diverged() { return absl::AbortedError("rounding changes which operators run"); }

  const Types& types_;
  const std::vector<Visit>& visits_;
  NetworkPrecision precision_;
  Random random_;
  double sign_;
  size_t next_ = 0;
};

bool BothSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The distance of `b` from `a`; infinite if they differ and one of them is not finite.
double Distance(double a, double b) {
  if (BothSame(a, b)) return 0;
  const double distance = std::fabs(a - b);
  return std::isfinite(distance) ? distance : kInfinity;
}

// Statistics of one output over all runs.
struct Deviations {
  Tensor expected;              // as computed in f64
  std::vector<double> squares;  // of the differences, summed over all runs
  std::vector<double> least;    // the least bound for each element

  void Spoil() { std::fill(squares.begin(), squares.end(), kInfinity); }
};

}  // namespace

class ErrorAnalysis::Impl {
 public:
  Impl(const Graph& graph, const NetworkPrecision& precision) : graph_(graph), precision_(precision) {}

  absl::Status Prepare(const std::vector<Tensor>& inputs, const std::vector<Tensor>& reference) {
    ASSIGN_OR_RETURN(converted_, ConvertFloats(graph_, DType::kF64));
    CollectTypes(graph_, *converted_, types_);
    for (const Tensor& input : inputs) {
      ASSIGN_OR_RETURN(inputs_.emplace_back(), ConvertFloats(input, DType::kF64));
    }
    const auto evaluate = [&](const Node& node, const std::vector<Tensor>& arguments) {
      if (ModelRounding(node).jumps) visits_.push_back({&node, arguments});
      return EvaluateNode(node, arguments);
    };
    ASSIGN_OR_RETURN(std::vector<Tensor> outputs, RunGraph(*converted_, inputs_, evaluate));
    for (size_t i = 0; i < outputs.size(); ++i) Begin(std::move(outputs[i]), reference[i]);
    return absl::OkStatus();
  }

  void AddPair() {
    const uint64_t seed = static_cast<uint64_t>(runs_);
    for (const double sign : {1.0, -1.0}) {
      NoisyEvaluator evaluator(types_, visits_, precision_, seed, sign);
      const auto outputs =
          RunGraph(*converted_, inputs_, [&](const Node& node, const std::vector<Tensor>& arguments) {
            return evaluator.Evaluate(node, arguments);
          });
      for (size_t i = 0; i < outputs_.size(); ++i) {
        if (outputs.ok()) {
          Accumulate((*outputs)[i], outputs_[i]);
        } else {
          outputs_[i].Spoil();
        }
      }
      ++runs_;
    }
  }

  std::vector<OutputBounds> Outputs() const {
    std::vector<OutputBounds> outputs;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Deviations& from = outputs_[i];
      const DType dtype = graph_.outputs()[i].value->type().dtype;
      OutputBounds output = {ToType(from.expected, dtype), Tensor(DType::kF64, from.expected.shape())};
      const auto bounds = output.bound.as_mutable<double>();
      for (size_t k = 0; k < bounds.size(); ++k) {
        const double deviation = std::sqrt(from.squares[k] / static_cast<double>(runs_));
        bounds[k] = std::max(kDeviations * deviation, from.least[k]);
      }
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

 private:
  static Tensor ToType(const Tensor& tensor, DType dtype) {
    if (tensor.dtype() == dtype) return tensor;
    Tensor out(dtype, tensor.shape());
    for (int64_t i = 0; i < out.num_elements(); ++i) out.SetDouble(i, tensor.ToDouble(i));
    return out;
  }

  void Begin(Tensor output, const Tensor& reference) {
    Deviations entry;
    entry.expected = std::move(output);
    const auto count = static_cast<size_t>(entry.expected.num_elements());
    entry.squares.assign(count, 0);
    entry.least.assign(count, 0);
    const bool same_shape = reference.shape() == entry.expected.shape();
    if (!same_shape) entry.Spoil();
    const double unit = IsFloat(reference.dtype()) ? UnitRoundoff(reference.dtype()) : 0;
    const Tensor rounded = ToType(entry.expected, reference.dtype());
    for (int64_t k = 0; k < entry.expected.num_elements() && same_shape; ++k) {
      const double a = entry.expected.ToDouble(k), b = rounded.ToDouble(k);
      // If `expected` was rounded, slightly different rounding may give its neighbour.
      const double neighbour = a == b || !std::isfinite(a) ? 0 : 2 * unit * std::fabs(a);
      entry.least[static_cast<size_t>(k)] = neighbour + 2 * Distance(b, reference.ToDouble(k));
    }
    outputs_.push_back(std::move(entry));
  }

  static void Accumulate(const Tensor& output, Deviations& entry) {
    if (output.shape() != entry.expected.shape()) {
      entry.Spoil();
      return;
    }
    for (size_t k = 0; k < entry.squares.size(); ++k) {
      const double by = Distance(entry.expected.ToDouble(static_cast<int64_t>(k)),
                                 output.ToDouble(static_cast<int64_t>(k)));
      entry.squares[k] += by * by;
    }
  }

  const Graph& graph_;
  NetworkPrecision precision_;
  std::unique_ptr<Graph> converted_;
  Types types_;
  std::vector<Tensor> inputs_;
  std::vector<Visit> visits_;
  std::vector<Deviations> outputs_;
  int64_t runs_ = 0;
};

ErrorAnalysis::ErrorAnalysis(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ErrorAnalysis::~ErrorAnalysis() = default;
ErrorAnalysis::ErrorAnalysis(ErrorAnalysis&&) noexcept = default;
ErrorAnalysis& ErrorAnalysis::operator=(ErrorAnalysis&&) noexcept = default;

absl::StatusOr<ErrorAnalysis> ErrorAnalysis::Create(const Graph& graph, const std::vector<Tensor>& inputs,
                                                    const std::vector<Tensor>& reference,
                                                    const NetworkPrecision& precision) {
  auto impl = std::make_unique<Impl>(graph, precision);
  RETURN_IF_ERROR(impl->Prepare(inputs, reference));
  return ErrorAnalysis(std::move(impl));
}

void ErrorAnalysis::AddPair() { impl_->AddPair(); }

std::vector<OutputBounds> ErrorAnalysis::Outputs() const { return impl_->Outputs(); }

}  // namespace attune
