// Operators with regions.
#include <algorithm>

#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune::infer {
namespace {

// Checks that the region's inputs have the types `expected`.
absl::Status CheckRegionInputs(const Graph& region, std::string_view what, const Types& expected) {
  if (region.inputs().size() != expected.size()) {
    return InvalidInput(what, " takes ", region.inputs().size(), " inputs, is given ", expected.size());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const TensorType& type = region.inputs()[i]->type();
    if (type != expected[i]) {
      return InvalidInput(what, " takes ", ToString(type), " as input ", i, ", is given ",
                          ToString(expected[i]));
    }
  }
  return absl::OkStatus();
}

Types OutputTypes(const Graph& region) {
  Types types;
  for (const Graph::Output& output : region.outputs()) types.push_back(output.value->type());
  return types;
}

// The types of the inputs from `first` on.
Types InputTypes(const Node& node, int first) {
  Types types;
  for (int i = first; i < node.num_inputs(); ++i) types.push_back(InputType(node, i));
  return types;
}

// Checks that every symbol in `types`, which leave a region, occurs in the types `given` to the region: a
// size that arises inside has no meaning outside.
absl::Status CheckSymbolsKnown(const Types& types, const Types& given) {
  const auto known = [&given](const Dim& dim) {
    return dim.is_constant() || std::ranges::any_of(given, [&](const TensorType& type) {
             return std::ranges::count(type.dims, dim) > 0;
           });
  };
  for (const TensorType& type : types) {
    if (!std::ranges::all_of(type.dims, known)) {
      return NotSupported("the result ", ToString(type),
                          " has a size that depends on the data inside the region");
    }
  }
  return absl::OkStatus();
}

const TensorType& Scalar(DType dtype) {
  static const TensorType* const kBool = new TensorType(DType::kBool, Dims());
  static const TensorType* const kCount = new TensorType(DType::kI64, Dims());
  return dtype == DType::kBool ? *kBool : *kCount;
}

absl::Status CheckScalar(const TensorType& type, std::string_view what, DType dtype) {
  if (type == Scalar(dtype)) return absl::OkStatus();
  return InvalidInput(what, " is ", ToString(type), ", must be ", ToString(Scalar(dtype)));
}

}  // namespace

TypesOr If(const Node& node) {
  RETURN_IF_ERROR(CheckScalar(InputType(node), "the condition", DType::kBool));
  const Types captured = InputTypes(node, 1);
  RETURN_IF_ERROR(CheckRegionInputs(node.region(0), "the first region", captured));
  RETURN_IF_ERROR(CheckRegionInputs(node.region(1), "the second region", captured));
  Types then = OutputTypes(node.region(0));
  const Types otherwise = OutputTypes(node.region(1));
  if (then.size() != otherwise.size()) {
    return InvalidInput("the first region gives ", then.size(), " results, the second ", otherwise.size());
  }
  for (size_t i = 0; i < then.size(); ++i) {
    if (then[i] == otherwise[i]) continue;
    const std::string message =
        absl::StrCat("result ", i, " is ", ToString(then[i]), " of the first region, ",
                     ToString(otherwise[i]), " of the second");
    if (then[i].dtype != otherwise[i].dtype) return InvalidInput(message);
    return NotSupported(message);
  }
  RETURN_IF_ERROR(CheckSymbolsKnown(then, captured));
  return then;
}

TypesOr Loop(const Node& node) {
  RETURN_IF_ERROR(CheckScalar(InputType(node), "the trip count", DType::kI64));
  RETURN_IF_ERROR(CheckScalar(InputType(node, 1), "the condition", DType::kBool));
  Types carried = InputTypes(node, 2);
  Types body_inputs = {Scalar(DType::kI64), Scalar(DType::kBool)};
  body_inputs.insert(body_inputs.end(), carried.begin(), carried.end());
  RETURN_IF_ERROR(CheckRegionInputs(node.region(), "the body", body_inputs));
  const Types results = OutputTypes(node.region());
  if (results.size() != carried.size() + 1) {
    return InvalidInput("the body gives ", results.size(), " results, must give a condition and ",
                        carried.size(), " values");
  }
  RETURN_IF_ERROR(CheckScalar(results[0], "the body's condition", DType::kBool));
  for (size_t i = 0; i < carried.size(); ++i) {
    if (results[i + 1] == carried[i]) continue;
    return NotSupported("the carried value ", i, " is ", ToString(carried[i]), ", the body makes it ",
                        ToString(results[i + 1]));
  }
  return carried;
}

TypesOr Fused(const Node& node) {
  RETURN_IF_ERROR(CheckRegionInputs(node.region(), "the region", InputTypes(node, 0)));
  return OutputTypes(node.region());
}

}  // namespace attune::infer
