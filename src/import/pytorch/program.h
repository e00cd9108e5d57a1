// Reads the program's JSON and checks every field. Its schema is torch/_export/serde/schema.py, version 8.
//
// A union ("Argument", "SymInt", …) is an object with one member, whose name identifies the alternative.
#ifndef ATTUNE_IMPORT_PYTORCH_PROGRAM_H_
#define ATTUNE_IMPORT_PYTORCH_PROGRAM_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/exact_number.h"

namespace attune::pytorch {

using Json = nlohmann::json;

// All functions below throw ImportFailure if something is missing or has another kind.

// Parses an object; the model is broken if it is not an object, not JSON, or nested deeper than any
// program. `what` names it in messages.
Json ParseJson(std::string_view text, std::string_view what);

// A required member. OptionalField returns nullptr if it is absent or null.
const Json& Field(const Json& object, std::string_view name);
const Json* OptionalField(const Json& object, std::string_view name);
std::string TextField(const Json& object, std::string_view name);
int64_t IntField(const Json& object, std::string_view name);
// An array.
const Json::array_t& ListField(const Json& object, std::string_view name);
// The alternative that a union holds.
std::pair<std::string, const Json*> ReadUnion(const Json& value);

// A Python number.
using Number = std::variant<bool, int64_t, double>;
double ToDouble(const Number& number);
ExactNumber Exact(const Number& number);
// A broken model if the number is not whole.
int64_t ToInt(const Number& number);

// A size: either known, or an expression of symbols.
struct SymbolicInt {
  std::optional<int64_t> value = {};
  std::string symbol = {};  // if the expression is a single symbol
};
SymbolicInt ReadSymbolicInt(const Json& value);

struct TensorMeta {
  int64_t scalar_type = 0;  // the schema's ScalarType
  std::vector<SymbolicInt> sizes = {};
  std::vector<SymbolicInt> strides = {};
  SymbolicInt storage_offset = {};
  bool strided = true;  // neither sparse nor in a library-specific layout
};
TensorMeta ReadTensorMeta(const Json& value);

// nullopt for a type that Attune does not support.
std::optional<DType> DTypeFromTorch(int64_t scalar_type);
// "complex64", …; "type 99" for an unknown one.
std::string TorchTypeName(int64_t scalar_type);

// One element of an argument: a name or a number; if neither, None.
struct Item {
  std::string name = {};
  std::optional<Number> number = {};
};

struct Argument {
  enum class Kind { kNone, kTensor, kTensors, kNumber, kNumbers, kString, kType, kGraph, kOther };
  Kind kind = Kind::kNone;
  std::vector<Item> items = {};  // for tensors and numbers; a symbolic number is a name
  std::string text = {};         // the string; for kOther, the name of the alternative
  int64_t scalar_type = 0;       // for kType
  const Json* graph = nullptr;   // for kGraph; points into the parsed document
};
Argument ReadArgument(const Json& value);

struct NodeProgram {
  std::string target;
  std::string name;
  std::vector<std::pair<std::string, Argument>> inputs;
  std::vector<Argument> outputs;
};
NodeProgram ReadNode(const Json& value);

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_PROGRAM_H_
