// Checks that the inference rules share, each of one operand or attribute, with a message that says what
// does not fit. No message names the operator: InferTypes puts the name in front.
#ifndef ATTUNE_GRAPH_OPS_CHECKS_H_
#define ATTUNE_GRAPH_OPS_CHECKS_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status.h"
#include "graph/graph.h"

namespace attune::infer {

using Dims = std::vector<Dim>;

// The largest stride, dilation, pad, window, block or group. A product of two of them, and a sum of those
// with dimensions (which stay below 2^40), fits into 64 bits.
inline constexpr int64_t kMaxParameter = (int64_t{1} << 31) - 1;

// The type of input i, which is present.
inline const TensorType& InputType(const Node& node, int i = 0) { return node.input(i)->type(); }

// "[1,64,n<=100]".
std::string ToString(const Dims& dims);
using attune::ToString;

// Element types. `what` is the operand as the message calls it: "the weight".
absl::Status CheckFloat(const TensorType& type, std::string_view what);
absl::Status CheckNumber(const TensorType& type, std::string_view what);  // floats and integers
absl::Status CheckDType(const TensorType& type, std::string_view what, std::initializer_list<DType> allowed);
absl::Status CheckSameDType(const TensorType& type, std::string_view what, const TensorType& as,
                            std::string_view as_what);

// Shapes.
absl::Status CheckRank(const TensorType& type, std::string_view what, int rank);
absl::Status CheckMinRank(const TensorType& type, std::string_view what, int rank);
absl::Status CheckDims(const TensorType& type, std::string_view what, const Dims& expected);

// The required int attribute `name`, which must be an axis of a tensor of `rank` dimensions.
absl::StatusOr<int> AxisAttribute(const Node& node, std::string_view name, int rank);
absl::StatusOr<int> AxisAttribute(const Node& node, int rank);  // named "axis"

// The size of dimension `axis`, or NotSupported where only data tells it. `doing` completes the message:
// "cannot reduce over the dynamic dimension 0 of f32[n<=100,4]".
absl::StatusOr<int64_t> ConstantDim(const TensorType& type, int axis, std::string_view doing);
absl::Status CheckConstantFrom(const TensorType& type, int axis,
                               std::string_view doing);  // axis and all after

// The int attribute `name`, within [low, high].
absl::StatusOr<int64_t> IntAttribute(const Node& node, std::string_view name, int64_t absent, int64_t low,
                                     int64_t high = kMaxParameter);
// An int attribute that is 0 or 1.
absl::StatusOr<bool> BoolAttribute(const Node& node, std::string_view name, bool absent);
// The ints attribute `name`: `count` values in [low, high], `absent` for each where it is absent.
absl::StatusOr<Ints> IntsAttribute(const Node& node, std::string_view name, size_t count, int64_t absent,
                                   int64_t low, int64_t high = kMaxParameter);
// A required ints attribute: `count` values of at least `low`.
absl::StatusOr<Ints> RequiredInts(const Node& node, std::string_view name, size_t count, int64_t low,
                                  int64_t high = kMaxParameter);
// The string attribute `name`, one of `allowed`; the first of these where it is absent.
absl::StatusOr<std::string> ChoiceAttribute(const Node& node, std::string_view name,
                                            std::initializer_list<std::string_view> allowed);

// The type of a sum of products of `operands`: the optional dtype attribute "to", which must be that type,
// or f32 for f16 and bf16.
absl::StatusOr<DType> SumType(const Node& node, DType operands);

// A dimension whose size depends on the data, at most `bound`. It keeps the symbol that axis `axis` of the
// node's first output has already; else its symbol is kNewSymbol.
Dim DataDependentDim(const Node& node, int axis, int64_t bound);

// The product, or an error that calls it `what`.
absl::StatusOr<int64_t> Product(std::initializer_list<int64_t> factors, std::string_view what);

}  // namespace attune::infer

#endif  // ATTUNE_GRAPH_OPS_CHECKS_H_
