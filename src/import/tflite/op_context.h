// The interface for lowering one operator: its inputs, options and quantization, and the emitter.
#ifndef ATTUNE_IMPORT_TFLITE_OP_CONTEXT_H_
#define ATTUNE_IMPORT_TFLITE_OP_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/common/emitter.h"
#include "import/tflite/tensors.h"

namespace attune::tflite {

class Importer;
struct Scope;

using Outputs = std::vector<Value*>;
using Activation = schema::ActivationFunctionType;

// The result of In() for a quantized tensor.
enum class Numbers {
  kStored,  // the integers
  kReal,    // the numbers that they represent, as f32
  kEither,  // the integers if all tensors have the same quantization, else the numbers
};

// A table without fields: all its options have default values.
alignas(4) inline constexpr unsigned char kNoOptions[] = {4, 0, 4, 0, 4, 0, 0, 0};

// Members throw ImportFailure: a required input is absent, or a value that must be known is not.
class OpContext : public Emitter {
 public:
  OpContext(Importer* importer, Scope* scope, const schema::Operator* node, std::string name,
            Numbers numbers);

  int num_inputs() const { return static_cast<int>(SizeOf(node_->inputs())); }
  int num_outputs() const { return static_cast<int>(SizeOf(node_->outputs())); }
  bool HasInput(int i) const;
  bool HasOutput(int i) const;

  // Input i: In() in the form that the operator's row selects (Numbers), Stored() as in the file, Real() as
  // the numbers that it represents. Required; OptionalIn() returns nullptr if it is absent.
  Value* In(int i) { return real_ ? Real(i) : Stored(i); }
  Value* Stored(int i) const;
  Value* Real(int i);
  Value* OptionalIn(int i) { return HasInput(i) ? In(i) : nullptr; }
  std::vector<Value*> AllIn();
  DType InType(int i) const { return Stored(i)->type().dtype; }
  Shape InShape(int i) const { return ShapeOf(Stored(i)); }
  int InRank(int i) const { return Stored(i)->type().rank(); }

  // The tensors as described in the file.
  const schema::Tensor& InTensor(int i) const;
  const schema::Tensor& OutTensor(int i = 0) const;
  DType OutType(int i = 0) const { return RequireDType(OutTensor(i).type()); }
  bool InQuantized(int i) const { return HasInput(i) && IsQuantized(InTensor(i)); }
  bool OutQuantized(int i = 0) const { return HasOutput(i) && IsQuantized(OutTensor(i)); }
  // For a quantized tensor; per channel only if the axis has as many indices as there are scales.
  Quantization InQuantization(int i) const;
  // The positive scale of a tensor that is quantized as a whole.
  double InScale(int i) const { return ScaleOf(InTensor(i)); }
  double OutScale(int i = 0) const { return ScaleOf(OutTensor(i)); }
  int64_t InZero(int i) const { return ZeroOf(InTensor(i)); }
  int64_t OutZero(int i = 0) const { return ZeroOf(OutTensor(i)); }
  // Whether both are quantized as a whole, with the same parameters.
  static bool SameQuantization(const schema::Tensor& a, const schema::Tensor& b);

  // The options; all have default values if the file has none of this kind.
  template <typename T>
  const T& Options() const {
    const T* options = node_->builtin_options_as<T>();
    return options != nullptr ? *options : *reinterpret_cast<const T*>(kNoOptions + 4);
  }
  const schema::Operator& node() const { return *node_; }
  // The quantization of a value within the operator.
  struct Scale {
    double scale;
    int64_t zero;
  };
  Scale Intermediate(int i) const;
  std::string_view CustomOptions() const;

  // Converts integers to real numbers and back. A zero point of 0 is omitted.
  Value* Dequantize(Value* x, double scale, int64_t zero);
  Value* Quantize(Value* x, double scale, int64_t zero, DType to);
  // The integers minus their zero point, as i32.
  Value* Centered(int input);
  // acc times `multipliers` (one, or one per index along `axis`) in fixed point, as integers of output 0,
  // or of the given type and zero point.
  Value* FixedPoint(Value* acc, const std::vector<double>& multipliers, int64_t axis = 0) {
    return FixedPointTo(acc, multipliers, axis, OutType(), OutZero());
  }
  Value* FixedPointTo(Value* acc, const std::vector<double>& multipliers, int64_t axis, DType to,
                      int64_t zero);
  // The same in double, rounded half away from zero, as integers of output 0.
  Value* InDoubles(Value* acc, const std::vector<double>& multipliers, int64_t axis);

  // Converts `x` to output i: quantizes it if the output is quantized and x is float.
  Value* ToOutput(Value* x, int output = 0);
  // The same, and then applies the fused activation; for a quantized tensor, as bounds on the integers.
  Value* Activate(Value* x, Activation activation, int output = 0);
  Value* ApplyBounds(Value* x, double min, double max, int output = 0);
  // For floats and unquantized integers.
  Value* ActivateReal(Value* x, Activation activation);

  // The same of input i.
  Ints KnownInts(int i, std::string_view what) const { return Emitter::KnownInts(Stored(i), what); }
  ExactNumber KnownScalar(int i, std::string_view what) const {
    return Emitter::KnownScalar(Stored(i), what);
  }
  int64_t KnownInt(int i, std::string_view what) const { return Emitter::KnownInt(Stored(i), what); }

  // Calls `attempt`; if it fails and another way may succeed, returns the reason and reports nothing.
  std::optional<ImportFailure> Try(const std::function<void()>& attempt);

  // Appends a subgraph's nodes to `target` (graph() or a region's graph). Returns the outputs.
  std::vector<Value*> Inline(int subgraph, Graph* target, const std::vector<Value*>& inputs);
  const Model& model() const;
  // A new region that stays alive after a failure, for the evaluator. Pass its Clone() to nodes.
  Graph* NewRegion(const std::string& name);
  // Declares that a region's input always is the value `outer` of this graph.
  void SetAlias(const Value* region_input, Value* outer);

 private:
  Value* Requantize(Value* acc, const std::vector<double>& factors, int64_t axis, DType to, int64_t zero,
                    const std::string& rounding);
  static double ScaleOf(const schema::Tensor& tensor);
  static int64_t ZeroOf(const schema::Tensor& tensor);
  bool AllAlike() const;
  Value* DequantizeChannels(Value* x, const Quantization& q);
  Value* DequantizeBlocks(Value* x, const schema::BlockwiseQuantization& blocks);

  Importer* importer_;
  Scope* scope_;
  const schema::Operator* node_;
  bool real_ = false;
  std::map<int, Value*> real_values_;  // cache of Real(), by input
};

// Lowers one operator. Returns its outputs in order; fewer than it has is not supported, and a float output
// is quantized if the model declares it as integers. Throws ImportFailure.
using Lowering = Outputs(OpContext& c);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OP_CONTEXT_H_
