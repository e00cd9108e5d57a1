// The program's JSON, read with every field checked. Its schema is torch/_export/serde/schema.py, version 8.
//
// A union ("Argument", "SymInt", …) is an object of one member, whose name says which alternative it is.
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

namespace attune::pytorch {

using Json = nlohmann::json;

// All functions below throw ImportFailure where something is missing or of another kind.

// An object; broken model for what is none, is not JSON, or nests deeper than any program does. `what` names
// it in messages.
Json ParseJson(std::string_view text, std::string_view what);

// A member that must exist; nullptr where it need not and is absent or null.
const Json& Field(const Json& object, std::string_view name);
const Json* OptionalField(const Json& object, std::string_view name);
std::string TextField(const Json& object, std::string_view name);
int64_t IntField(const Json& object, std::string_view name);
// An array.
const Json& ListField(const Json& object, std::string_view name);
// The alternative that a union holds.
std::pair<std::string, const Json*> ReadUnion(const Json& value);

// A Python number.
using Number = std::variant<bool, int64_t, double>;
double ToDouble(const Number& number);
// Broken model where it is not whole.
int64_t ToInt(const Number& number);

// A size: known, or an expression of symbols.
struct SymbolicInt {
  std::optional<int64_t> value = {};
  std::string symbol = {};  // where the expression is a symbol alone
};
SymbolicInt ReadSymbolicInt(const Json& value);

struct TensorMeta {
  int64_t scalar_type = 0;  // the schema's ScalarType
  std::vector<SymbolicInt> sizes = {};
  std::vector<SymbolicInt> strides = {};
  SymbolicInt storage_offset = {};
  bool strided = true;  // neither sparse nor of a library's own layout
};
TensorMeta ReadTensorMeta(const Json& value);

// Nothing for a type that Attune does not have.
std::optional<DType> DTypeFromTorch(int64_t scalar_type);
// "complex64", …; "type 99" of an unknown one.
std::string TorchTypeName(int64_t scalar_type);

// One thing that an argument names or holds; neither: None.
struct Item {
  std::string name = {};
  std::optional<Number> number = {};
};

struct Argument {
  enum class Kind { kNone, kTensor, kTensors, kNumber, kNumbers, kString, kType, kGraph, kOther };
  Kind kind = Kind::kNone;
  std::vector<Item> items = {};  // of tensors and numbers; a symbolic number is a name
  std::string text = {};         // the string; of kOther the alternative's name
  int64_t scalar_type = 0;       // of kType
  const Json* graph = nullptr;   // of kGraph, in the document that was read
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
