// The interface for lowering one node: its arguments by name, and the emitter.
#ifndef ATTUNE_IMPORT_PYTORCH_OP_CONTEXT_H_
#define ATTUNE_IMPORT_PYTORCH_OP_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/pytorch/program.h"
#include "import/pytorch/vocabulary.h"

namespace attune::pytorch {

class Importer;
struct Scope;

// The value bound to a name: a tensor, or a known number.
struct Binding {
  Value* value = nullptr;
  std::optional<Number> number = {};
  bool failed = false;        // its node is not supported, which has been reported
  std::string unusable = {};  // if not empty, why operators cannot use it
  int64_t storage = -1;       // tensors with the same storage may share memory; -1: not yet decided
  int64_t tensor = -1;        // bindings with the same number are names of the same tensor

  Binding() = default;
  Binding(Value* made) : value(made) {}     // NOLINT: a tensor is a binding
  Binding(Number known) : number(known) {}  // NOLINT: a number is a binding
};
using Outputs = std::vector<Binding>;

// An argument for which PyTorch accepts a tensor or a number.
struct Operand {
  Value* value = nullptr;  // nullptr: a number
  Number number = {};

  Operand(Value* tensor) : value(tensor) {}  // NOLINT: a tensor is an operand
  Operand(Number known) : number(known) {}   // NOLINT: a number is an operand
};

// Arguments have the names in ATen's schemas (native_functions.yaml). An argument that is missing, or None,
// is absent; programs omit arguments with default values. Members throw ImportFailure: a required argument
// is absent or has the wrong kind, or a value that must be known is not.
class OpContext : public Emitter {
 public:
  OpContext(Importer* importer, Scope* scope, const NodeProgram* node, std::string node_name);

  const NodeProgram& node() const { return *node_; }
  // The number of values that the program names as outputs, lists flattened.
  int64_t OutputCount() const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }

  // A tensor; nullptr if an optional one is absent.
  Value* In(std::string_view name) const;
  Value* OptionalIn(std::string_view name) const { return Has(name) ? In(name) : nullptr; }
  DType InType(std::string_view name) const { return In(name)->type().dtype; }
  Shape InShape(std::string_view name) const { return ShapeOf(In(name)); }
  int64_t InRank(std::string_view name) const { return In(name)->type().rank(); }
  // A list of tensors; nullptr for a None in it.
  std::vector<Value*> List(std::string_view name) const;
  Operand Either(std::string_view name) const;

  Number Num(std::string_view name) const;
  int64_t Int(std::string_view name) const { return ToInt(Num(name)); }
  int64_t Int(std::string_view name, int64_t absent) const { return Has(name) ? Int(name) : absent; }
  bool Bool(std::string_view name, bool absent) const { return Has(name) ? Int(name) != 0 : absent; }
  ExactNumber Exact(std::string_view name, const ExactNumber& absent) const {
    return Has(name) ? pytorch::Exact(Num(name)) : absent;
  }
  double Float(std::string_view name) const { return ToDouble(Num(name)); }
  double Float(std::string_view name, double absent) const { return Has(name) ? Float(name) : absent; }
  std::string String(std::string_view name, std::string_view absent) const;
  // A list of numbers; a single one counts as a list.
  std::vector<Number> Numbers(std::string_view name) const;
  Ints IntList(std::string_view name) const;
  Ints IntList(std::string_view name, Ints absent) const {
    return Has(name) ? IntList(name) : std::move(absent);
  }
  // One number per dimension; a single one applies to all. `absent` is also used for an empty list.
  Ints PerDimension(std::string_view name, size_t dimensions, const Ints& absent) const;
  std::optional<DType> OptionalType(std::string_view name) const;
  // The number at a position, for Python's own operators.
  Number NumAt(size_t position) const;

  // An axis argument as 0 … rank - 1; a scalar has one.
  int64_t AxisOf(std::string_view name, int64_t rank) const;
  int64_t AxisOf(std::string_view name, int64_t rank, int64_t absent) const;

  // The operand as a tensor of this type.
  Value* As(const Operand& operand, DType dtype);
  // Appends the program in argument `position`, a graph, to this one; the following arguments are its
  // inputs.
  Outputs Inline(size_t position);

 private:
  const Argument* Find(std::string_view name) const;
  const Argument& Require(std::string_view name) const;
  Number NumberOf(const Item& item) const;
  Value* ValueOf(const Item& item) const;

  Importer* importer_;
  Scope* scope_;
  const NodeProgram* node_;
};

// Lowers one node. Returns its outputs in order, lists flattened; an output without a result cannot be
// used. Throws ImportFailure.
using Lowering = Outputs(OpContext& c);

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_OP_CONTEXT_H_
