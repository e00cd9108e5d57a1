#include "tune/task/error_bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "base/random.h"
#include "base/status.h"
#include "reference/compare.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

// The same as in the lowering tests: terms are added in any order; transformed values and attention weights
// may be rounded to bf16 before they are multiplied.
constexpr double kGamma = 64;
constexpr double kFactorRoundoff = 0x1p-9;

// A contraction is evaluated with inputs that are off at random. Their effects partly cancel, which would
// not happen if all terms were off by their bounds.
constexpr double kRandomSlack = 4;

using Bound = std::vector<float>;  // per element; empty: exact

// Two sets of bounds, because strategies may spread rounding or not.
enum Variant { kPlain, kSpread, kNumVariants };

struct Known {
  Tensor value;
  Bound bounds[kNumVariants];
};

// `known` with each element moved by its bound times sign().
Tensor Perturb(const Known& known, Variant variant, const std::function<double()>& sign) {
  const Bound& bound = known.bounds[variant];
  if (bound.empty()) return known.value;
  Tensor moved(known.value.dtype(), known.value.shape());
  for (int64_t i = 0; i < moved.num_elements(); ++i) {
    const double by = sign() * static_cast<double>(bound[static_cast<size_t>(i)]);
    moved.SetDouble(i, known.value.ToDouble(i) + by);
  }
  return moved;
}

// Widens `bound` to |b - a| * factor.
void Widen(Bound& bound, const Tensor& a, const Tensor& b, double factor) {
  if (a.shape() != b.shape()) return;  // a dynamic shape, whose size depends on the values
  bound.resize(static_cast<size_t>(a.num_elements()), 0);
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double difference = factor * std::fabs(b.ToDouble(i) - a.ToDouble(i));
    float& entry = bound[static_cast<size_t>(i)];
    if (std::isfinite(difference)) entry = std::max(entry, static_cast<float>(difference));
  }
}

class Evaluation {
 public:
  absl::StatusOr<std::vector<BoundedOutput>> Run(const Graph& region, const std::vector<Tensor>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) known_[region.inputs()[i].get()].value = inputs[i];
    for (const auto& node : region.nodes()) RETURN_IF_ERROR(Evaluate(*node));
    std::vector<BoundedOutput> outputs;
    for (const Graph::Output& output : region.outputs()) outputs.push_back(Finish(known_.at(output.value)));
    return outputs;
  }

 private:
  std::vector<Tensor> Arguments(const Node& node, const std::function<Tensor(const Known&)>& make) const {
    std::vector<Tensor> arguments;
    for (const Value* input : node.inputs())
      arguments.push_back(input == nullptr ? Tensor() : make(known_.at(input)));
    return arguments;
  }

  absl::Status Evaluate(const Node& node) {
    const std::vector<Tensor> arguments = Arguments(node, [](const Known& known) { return known.value; });
    ASSIGN_OR_RETURN(std::vector<Tensor> outputs, EvaluateNode(node, arguments));
    for (int i = 0; i < node.num_outputs(); ++i)
      known_[node.output(i)].value = std::move(outputs[static_cast<size_t>(i)]);
    if (node.op() == Op::kConstant) return absl::OkStatus();
    for (const Variant variant : {kPlain, kSpread}) {
      if (variant == kPlain || has_spread_) RETURN_IF_ERROR(Propagate(node, variant));
    }
    return AddOwn(node, arguments);
  }

  // Adds the effect of the inputs' errors on the outputs.
  absl::Status Propagate(const Node& node, Variant variant) {
    const auto is_off = [&](const Value* input) {
      return input != nullptr && !known_.at(input).bounds[variant].empty();
    };
    if (std::none_of(node.inputs().begin(), node.inputs().end(), is_off)) return absl::OkStatus();
    const auto evaluate = [&](double factor, const std::function<double()>& sign) -> absl::Status {
      ASSIGN_OR_RETURN(const std::vector<Tensor> moved,
                       EvaluateNode(node, Arguments(node, [&](const Known& known) {
                                      return Perturb(known, variant, sign);
                                    })));
      for (int i = 0; i < node.num_outputs(); ++i) {
        Known& output = known_.at(node.output(i));
        Widen(output.bounds[variant], output.value, moved[static_cast<size_t>(i)], factor);
      }
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(evaluate(IsContraction(node.op()) ? kRandomSlack : 1,
                             [this] { return random_.Next() % 2 == 0 ? 1.0 : -1.0; }));
    if (IsContraction(node.op())) return absl::OkStatus();
    RETURN_IF_ERROR(evaluate(1, [] { return 1.0; }));
    return evaluate(1, [] { return -1.0; });
  }

  // Adds the node's own rounding error.
  absl::Status AddOwn(const Node& node, const std::vector<Tensor>& arguments) {
    if (IsContraction(node.op()) && IsFloat(node.output()->type().dtype)) {
      ASSIGN_OR_RETURN(const Tensor magnitude, EvaluateMagnitude(node, arguments));
      AddContraction(node, magnitude);
      return absl::OkStatus();
    }
    if (GetOpInfo(node.op()).category == OpCategory::kMovement) return absl::OkStatus();
    for (int i = 0; i < node.num_outputs(); ++i) {
      Known& output = known_.at(node.output(i));
      if (!IsFloat(output.value.dtype())) continue;
      const double share = 4 * UnitRoundoff(output.value.dtype());
      for (const Variant variant : {kPlain, kSpread}) {
        if (variant == kPlain || has_spread_)
          Add(output, variant, [&](int64_t at) { return share * std::fabs(output.value.ToDouble(at)); });
      }
    }
    return absl::OkStatus();
  }

  void AddContraction(const Node& node, const Tensor& magnitude) {
    Known& output = known_.at(node.output());
    if (!has_spread_) {  // at the first contraction, the two variants begin to differ
      has_spread_ = true;
      for (auto& [value, known] : known_) known.bounds[kSpread] = known.bounds[kPlain];
    }
    const DType dtype = output.value.dtype();
    const double u = dtype == DType::kF64 ? 0x1p-53 : 0x1p-24;
    const bool rounds = dtype == DType::kBF16;
    const double storage = dtype == DType::kF64 ? 0 : 2 * UnitRoundoff(dtype);
    double largest = 0;
    for (int64_t i = 0; i < magnitude.num_elements(); ++i) largest = std::max(largest, magnitude.ToDouble(i));
    const double plain = rounds && node.op() == Op::kAttention ? kFactorRoundoff : kGamma * u;
    const double spread = rounds ? kFactorRoundoff : kGamma * u;
    Add(output, kPlain, [&](int64_t i) {
      return plain * magnitude.ToDouble(i) + storage * std::fabs(output.value.ToDouble(i));
    });
    Add(output, kSpread,
        [&](int64_t i) { return spread * largest + storage * std::fabs(output.value.ToDouble(i)); });
  }

  template <typename F>
  static void Add(Known& known, Variant variant, F error) {
    Bound& bound = known.bounds[variant];
    bound.resize(static_cast<size_t>(known.value.num_elements()), 0);
    for (int64_t i = 0; i < known.value.num_elements(); ++i) {
      const double more = error(i);
      if (std::isfinite(more)) bound[static_cast<size_t>(i)] += static_cast<float>(more);
    }
  }

  BoundedOutput Finish(Known known) const {
    const Tolerance tolerance = OperatorTolerance(known.value.dtype());
    for (const Variant variant : {kPlain, kSpread}) {
      Add(known, variant, [&](int64_t i) {
        return tolerance.absolute + tolerance.relative * std::fabs(known.value.ToDouble(i));
      });
    }
    if (!has_spread_) known.bounds[kSpread].clear();
    return {std::move(known.value), std::move(known.bounds[kPlain]), std::move(known.bounds[kSpread])};
  }

  std::map<const Value*, Known> known_;
  Random random_{7};
  bool has_spread_ = false;
};

}  // namespace

absl::StatusOr<std::vector<BoundedOutput>> EvaluateWithBounds(const Graph& region,
                                                              const std::vector<Tensor>& inputs) {
  return Evaluation().Run(region, inputs);
}

}  // namespace attune
