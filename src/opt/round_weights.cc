// Rounds weights to f16 or bf16, for artifacts that store them in 16 bits and kernels that read them so.
// Their type in the graph stays f32: plan/narrow_constants.h says which kernels read 16 bits.
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/float16.h"
#include "base/status.h"
#include "opt/passes.h"

namespace attune {
namespace {

// Nothing where rounding loses more, in the root mean square, than twice its bound at the type's full
// precision (2⁻¹¹ of a number for f16, 2⁻⁹ for bf16), as with numbers above or below the range of f16.
std::optional<Tensor> Rounded(const Tensor& tensor, DType dtype) {
  const double max_error = dtype == DType::kF16 ? 0x1p-10 : 0x1p-8;
  Tensor rounded(DType::kF32, tensor.shape());
  const std::span<const float> from = tensor.as<float>();
  const std::span<float> to = rounded.as_mutable<float>();
  double lost = 0, all = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] = dtype == DType::kF16 ? F16ToFloat(FloatToF16(from[i])) : BF16ToFloat(FloatToBF16(from[i]));
    const double value = from[i], error = to[i] - value;
    lost += error * error;
    all += value * value;
  }
  const bool is_rounding = lost <= max_error * max_error * all;  // false for NaN
  return is_rounding ? std::optional(std::move(rounded)) : std::nullopt;
}

// Whether input i may be weights: what a contraction multiplies by, or a table that rows are taken from.
// The mask of an attention is not: it is added.
bool TakesWeights(const Node& node, int i) {
  constexpr int kMask = 3;
  if (node.op() == Op::kGather) return i == 0;
  return GetOpInfo(node.op()).category == OpCategory::kContraction &&
         !(node.op() == Op::kAttention && i == kMask);
}

// Biases and scales are few and reach outputs as they are.
bool IsWeights(const Value* value) {
  constexpr int kLeastRank = 2;
  return value != nullptr && value->constant() != nullptr && value->constant()->dtype() == DType::kF32 &&
         value->constant()->rank() >= kLeastRank;
}

class WeightRounding {
 public:
  WeightRounding(Graph& graph, DType dtype) : graph_(graph), dtype_(dtype) {}

  bool Run() {
    bool changed = false;
    for (const auto& node : graph_.nodes()) {
      for (int i = 0; i < node->num_inputs(); ++i) {
        if (!TakesWeights(*node, i) || !IsWeights(node->input(i))) continue;
        Value* rounded = RoundedOf(node->input(i), node.get());
        if (rounded == nullptr) continue;
        node->SetInput(i, rounded);
        changed = true;
      }
    }
    return changed;
  }

 private:
  // The rounded constant, made once, before its first use. Null where it stays, or is rounded already.
  Value* RoundedOf(Value* value, Node* before) {
    const auto [it, is_new] = rounded_.try_emplace(value, nullptr);
    if (!is_new) return it->second;
    std::optional<Tensor> tensor = Rounded(*value->constant(), dtype_);
    if (!tensor.has_value() || tensor->Identical(*value->constant())) return nullptr;
    Value* constant = graph_.AddConstant(*std::move(tensor), value->producer()->name(), before);
    constant->set_name(value->name());
    value->set_name("");
    rounded_[constant] = nullptr;  // nothing to do where a later use has it already
    return it->second = constant;
  }

  Graph& graph_;
  DType dtype_;
  std::map<const Value*, Value*> rounded_;
};

}  // namespace

absl::StatusOr<bool> RoundWeightsPass(Graph& graph, const PassContext& context) {
  const bool to_f16 = context.Parameter("f16") != 0, to_bf16 = context.Parameter("bf16") != 0;
  if (to_f16 && to_bf16) return InvalidInput("weights are rounded to f16 or to bf16, not both");
  if (!to_f16 && !to_bf16) return false;
  return WeightRounding(graph, to_f16 ? DType::kF16 : DType::kBF16).Run();
}

}  // namespace attune
