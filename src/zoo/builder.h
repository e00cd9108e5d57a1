// Writes a network as an ONNX model, layer by layer, with seeded weights.
//
// The weights are random, but keep activations in a reasonable range: the variance of a weight is gain /
// fan-in (He et al., Delving Deep into Rectifiers, 2015), so that a layer followed by the activation of its
// gain roughly preserves the mean square of its input. Batch-norm statistics are not trivial, but neutral
// on average.
#ifndef ATTUNE_ZOO_BUILDER_H_
#define ATTUNE_ZOO_BUILDER_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "import/onnx/onnx.pb.h"

namespace attune {

// Variance times fan-in of the weights before the named activation: 1 / E[f(z)²] for a standard normal z.
// For SiLU this is 2.8, but 2 for large z: the gain is between them, so that errors do not accumulate.
inline constexpr double kLinearGain = 1.0;
inline constexpr double kReluGain = 2.0;
inline constexpr double kSiluGain = 2.3;
inline constexpr double kGeluGain = 2.35;

// A tensor of the network under construction. A negative dimension is only known when the network runs.
struct NetworkValue {
  std::string name;
  std::vector<int64_t> shape;
  DType dtype = DType::kF32;
};

using NetworkAttribute = std::variant<int64_t, float, std::vector<int64_t>>;
using NetworkAttributes = std::vector<std::pair<std::string, NetworkAttribute>>;

// Padding at {top, left, bottom, right}.
using Pads = std::array<int64_t, 4>;

constexpr Pads EvenPads(int64_t n) { return {n, n, n, n}; }

// TensorFlow's "SAME": the output has ceil(size / stride) elements; if the padding is odd, its larger half
// is at the bottom and the right. `x` is NCHW, the kernel square.
Pads SamePads(const NetworkValue& x, int64_t kernel, int64_t stride);

struct ConvOptions {
  int64_t channels = 0;  // of the output
  std::array<int64_t, 2> kernel = {1, 1};
  int64_t stride = 1;
  Pads pads = {};
  int64_t groups = 1;
  bool bias = false;
  double bias_center = 0;
  double gain = kReluGain;
};

struct BatchNormOptions {
  float epsilon = 1e-5f;
  // The standard deviation of the output for an input with 1. Below 1 at the end of residual branches, so
  // that the variance of the sum does not grow with the depth.
  double scale = 1.0;
};

struct PoolOptions {
  int64_t kernel = 0;
  int64_t stride = 1;
  Pads pads = {};
  bool ceil_mode = false;  // otherwise the output's size is rounded down
};

// Values are float tensors, images NCHW, unless a method says otherwise. Not thread safe.
class NetworkBuilder {
 public:
  // `batch` (> 0) is the leading dimension of the inputs; `width` is the factor for Scaled().
  NetworkBuilder(std::string_view network, uint64_t seed, int64_t batch, double width = 1);

  int64_t batch() const { return batch_; }
  // The scaled number of channels of a layer: rounded to the nearest multiple of `multiple`, at least
  // `multiple`; `channels` itself if the width is 1.
  int64_t Scaled(int64_t channels, int64_t multiple = 16) const;

  NetworkValue Input(const std::string& name, std::vector<int64_t> shape, DType dtype = DType::kF32);
  // Makes `value`, a node's output, the network's output `name`. `value` itself must not be used
  // afterwards.
  void Output(const NetworkValue& value, const std::string& name);

  // Trained parameters, uniform in [center - limit, center + limit).
  NetworkValue Weight(const std::string& name, std::vector<int64_t> shape, double limit, double center = 0);
  // Initializers that are not trained, in f32 and i64. An empty shape gives a scalar.
  NetworkValue Constant(std::span<const float> values, std::vector<int64_t> shape);
  NetworkValue Scalar(float value) { return Constant(std::array{value}, {}); }
  NetworkValue Ints(std::span<const int64_t> values);
  NetworkValue IntScalar(int64_t value);

  // A node with one output, whose shape the caller passes. Without a name, a unique one is chosen.
  NetworkValue Node(const std::string& op_type, const std::vector<NetworkValue>& inputs,
                    std::vector<int64_t> shape, const NetworkAttributes& attributes = {},
                    std::string name = "");

  // Layers with parameters NAME.weight and NAME.bias; batch norm also has NAME.running_mean and
  // NAME.running_var.
  NetworkValue Conv(const std::string& name, const NetworkValue& x, const ConvOptions& options);
  NetworkValue BatchNorm(const std::string& name, const NetworkValue& x,
                         const BatchNormOptions& options = {});
  // [n, k] → [n, units] as a Gemm with the weights [units, k].
  NetworkValue Linear(const std::string& name, const NetworkValue& x, int64_t units,
                      double gain = kLinearGain);
  // [..., k] → [..., units] as MatMul with the weights [k, units], and Add.
  NetworkValue Dense(const std::string& name, const NetworkValue& x, int64_t units,
                     double gain = kLinearGain);

  NetworkValue Relu(const NetworkValue& x) { return Node("Relu", {x}, x.shape); }
  NetworkValue Relu6(const NetworkValue& x) { return Clip(x, 0.0f, 6.0f); }
  NetworkValue Clip(const NetworkValue& x, float low, float high);
  NetworkValue Sigmoid(const NetworkValue& x) { return Node("Sigmoid", {x}, x.shape); }
  NetworkValue Softmax(const NetworkValue& x) { return Node("Softmax", {x}, x.shape, {{"axis", -1}}); }
  // Add, Sub, Mul, Div, Pow; the shapes broadcast.
  NetworkValue Binary(const std::string& op_type, const NetworkValue& a, const NetworkValue& b);
  NetworkValue Add(const NetworkValue& a, const NetworkValue& b) { return Binary("Add", a, b); }
  NetworkValue Mul(const NetworkValue& a, const NetworkValue& b) { return Binary("Mul", a, b); }

  NetworkValue MaxPool(const NetworkValue& x, const PoolOptions& options);
  // Padding counts as zeros in the average.
  NetworkValue AveragePool(const NetworkValue& x, const PoolOptions& options);
  NetworkValue GlobalAveragePool(const NetworkValue& x);

  // The leading dimensions of both are equal, or `b` is a matrix.
  NetworkValue MatMul(const NetworkValue& a, const NetworkValue& b);
  // `indices` has one dimension, or none, which removes the axis.
  NetworkValue Gather(const NetworkValue& x, const NetworkValue& indices, int64_t axis);
  NetworkValue Concat(const std::vector<NetworkValue>& values, int64_t axis);
  NetworkValue Slice(const NetworkValue& x, int64_t axis, int64_t begin, int64_t end);
  // Merges all dimensions except the leading one.
  NetworkValue Flatten(const NetworkValue& x);
  NetworkValue Reshape(const NetworkValue& x, std::vector<int64_t> shape);
  NetworkValue Transpose(const NetworkValue& x, const std::vector<int64_t>& permutation);

  // The number of trained numbers, without batch norm's statistics, and of multiplications in Conv, Gemm
  // and MatMul.
  int64_t parameters() const { return parameters_; }
  int64_t macs() const { return macs_; }

  const attune_onnx::ModelProto& model() const { return model_; }

 private:
  NetworkValue Pool(const std::string& op_type, const NetworkValue& x, const PoolOptions& options,
                    NetworkAttributes attributes);
  // Adds an initializer of zeros and returns its elements.
  std::span<float> AddTensor(const std::string& name, const std::vector<int64_t>& shape);
  void FillUniform(const std::string& name, std::span<float> values, double limit, double center) const;
  std::string UniqueName(const std::string& prefix);

  attune_onnx::ModelProto model_;
  attune_onnx::GraphProto* graph_;
  uint64_t seed_;
  int64_t batch_;
  double width_;
  int64_t next_name_ = 0;
  int64_t parameters_ = 0;
  int64_t macs_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_ZOO_BUILDER_H_
