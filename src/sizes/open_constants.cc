#include "sizes/open_constants.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "sizes/same_graphs.h"

namespace attune {
namespace {

bool HaveSameAttributes(const SameNodes& same) {
  return std::ranges::all_of(same, [&](const Node* node) { return node->attrs() == same[0]->attrs(); });
}

bool IsOneNumber(const Tensor& tensor) {
  if (tensor.num_elements() == 0) return false;
  const ExactNumber first = tensor.ToNumber(0);
  for (int64_t i = 1; i < tensor.num_elements(); ++i) {
    if (tensor.ToNumber(i) != first) return false;
  }
  return true;
}

// start + Σ steps[d] · i[d]
struct Line {
  int64_t start = 0;
  Ints steps;
};

std::optional<Line> LineOf(const Tensor& tensor) {
  if (tensor.num_elements() == 0) return std::nullopt;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (!tensor.ToNumber(i).is_integer()) return std::nullopt;
  }
  Line line{tensor.ToInt(0), Ints(tensor.shape().size(), 0)};
  int64_t stride = 1;
  for (size_t d = tensor.shape().size(); d-- > 0;) {
    if (tensor.shape()[d] > 1) line.steps[d] = tensor.ToInt(stride) - line.start;
    stride *= tensor.shape()[d];
  }
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    int64_t value = line.start, rest = i;
    for (size_t d = tensor.shape().size(); d-- > 0;) {
      value += rest % tensor.shape()[d] * line.steps[d];
      rest /= tensor.shape()[d];
    }
    if (value != tensor.ToInt(i)) return std::nullopt;
  }
  return line;
}

class Opening {
 public:
  explicit Opening(std::span<Graph* const> graphs) : graphs_(graphs) {}

  absl::Status Run() {
    const auto visit = [this](const SameNodes& same, const SameOwners& owners) {
      if (HaveSameAttributes(same)) return absl::OkStatus();
      if (same[0]->op() == Op::kConstant) {
        Differing& constant = differing_.emplace_back(Differing{same, owners, {}});
        for (const Node* node : same) constant.tensors.push_back(*node->output()->constant());
      } else {
        FreezeOperands(same);
      }
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(ForEachSameNode(graphs_, visit));
    for (const Differing& constant : differing_) RETURN_IF_ERROR(Compute(constant));
    return absl::OkStatus();
  }

 private:
  static void FreezeOperands(const SameNodes& same) {
    for (const Node* node : same) {
      for (const Value* operand : node->inputs()) {
        if (operand != nullptr && operand->constant() != nullptr)
          operand->producer()->mutable_attrs().Set("frozen", int64_t{1});
      }
    }
  }

  // A constant that is another one in each graph, and the graphs.
  struct Differing {
    SameNodes same;
    SameOwners owners;
    std::vector<Tensor> tensors;
  };

  // Replaces it by an operator, the same one in each graph.
  absl::Status Compute(const Differing& differing) {
    const std::vector<Tensor>& tensors = differing.tensors;
    const bool is_one_number = std::ranges::all_of(tensors, [&](const Tensor& tensor) {
      return IsOneNumber(tensor) && tensor.ToNumber(0) == tensors[0].ToNumber(0);
    });
    if (is_one_number) return Replace(differing, MakeOneNumber);
    if (std::ranges::all_of(tensors, [](const Tensor& tensor) { return LineOf(tensor).has_value(); }))
      return Replace(differing, [](Graph& graph, const Tensor& tensor, const std::string&, Node* from) {
        return MakeLine(graph, *LineOf(tensor), tensor.shape(), tensor.dtype(), from);
      });
    if (IsShortList(tensors)) return Replace(differing, MakeList);
    const Value& constant = *differing.same[0]->output();
    return NotSupported("with open sizes, the constant \"", NameOf(*differing.same[0]),
                        "\" has other values at each size (", ToString(constant.type()), ")");
  }

  // A list of sizes, such as a shape that is an operand: of integers, as long at each size.
  static bool IsShortList(std::span<const Tensor> tensors) {
    constexpr int64_t kLongest = 16;
    return std::ranges::all_of(tensors, [&](const Tensor& tensor) {
      if (tensor.shape().size() != 1 || tensor.shape() != tensors[0].shape()) return false;
      if (tensor.num_elements() > kLongest) return false;
      for (int64_t i = 0; i < tensor.num_elements(); ++i) {
        if (!tensor.ToNumber(i).is_integer()) return false;
      }
      return true;
    });
  }

  static Value* MakeOneNumber(Graph& graph, const Tensor& tensor, const std::string& name, Node* from) {
    Value* number = graph.AddConstant(Tensor::Scalar(tensor.dtype(), tensor.ToNumber(0)), name, from);
    number->producer()->mutable_attrs().Set("frozen", int64_t{1});
    return graph.Make(Op::kBroadcast, {number}, {{"shape", tensor.shape()}}, from);
  }

  static Value* MakeLine(Graph& graph, const Line& line, const Ints& shape, DType dtype, Node* from) {
    return graph.Make(Op::kIota, {},
                      {{"shape", shape}, {"start", line.start}, {"steps", line.steps}, {"to", dtype}}, from);
  }

  static Value* MakeList(Graph& graph, const Tensor& tensor, const std::string&, Node* from) {
    std::vector<Value*> elements;
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      elements.push_back(
          MakeLine(graph, {.start = tensor.ToInt(i), .steps = {0}}, {1}, tensor.dtype(), from));
    return graph.Make(Op::kConcat, elements, {{"axis", int64_t{0}}}, from);
  }

  static const std::string& NameOf(const Node& constant) {
    return constant.name().empty() ? constant.output()->name() : constant.name();
  }

  template <typename Make>
  absl::Status Replace(const Differing& differing, const Make& make) {
    for (size_t g = 0; g < differing.same.size(); ++g) {
      Node* constant = differing.same[g];
      if (!replaced_.insert(constant).second) continue;  // it is the same as several others elsewhere
      Graph& graph = *differing.owners[g];
      const std::string name = NameOf(*constant);
      Value* computed = make(graph, differing.tensors[g], name, constant);
      computed->producer()->set_name(name);
      graph.ReplaceAllUses(constant->output(), computed);
      graph.Erase(constant);
    }
    return absl::OkStatus();
  }

  std::span<Graph* const> graphs_;
  std::vector<Differing> differing_;
  std::set<const Node*> replaced_;
};

}  // namespace

absl::Status OpenConstants(std::span<Graph* const> graphs) { return Opening(graphs).Run(); }

}  // namespace attune
