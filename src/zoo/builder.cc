#include "zoo/builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace attune {
namespace {

using attune_onnx::AttributeProto;
using attune_onnx::TensorProto;
using attune_onnx::ValueInfoProto;

constexpr int64_t kIrVersion = 8;  // belongs to opset 17
constexpr int64_t kOpset = 17;

static_assert(std::endian::native == std::endian::little, "raw_data is little endian");

int64_t Product(std::span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

TensorProto::DataType OnnxType(DType dtype) {
  return dtype == DType::kI64 ? TensorProto::INT64 : TensorProto::FLOAT;
}

void SetValueInfo(const NetworkValue& value, ValueInfoProto* info) {
  info->set_name(value.name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(OnnxType(value.dtype));
  for (int64_t d : value.shape) {
    auto* dim = type->mutable_shape()->add_dim();
    if (d >= 0) {
      dim->set_dim_value(d);
    } else {
      dim->set_dim_param("n");
    }
  }
}

void SetAttribute(const std::string& name, const NetworkAttribute& value, AttributeProto* out) {
  out->set_name(name);
  if (const auto* i = std::get_if<int64_t>(&value)) {
    out->set_type(AttributeProto::INT);
    out->set_i(*i);
  } else if (const auto* f = std::get_if<float>(&value)) {
    out->set_type(AttributeProto::FLOAT);
    out->set_f(*f);
  } else {
    const auto& ints = std::get<std::vector<int64_t>>(value);
    out->set_type(AttributeProto::INTS);
    out->mutable_ints()->Add(ints.begin(), ints.end());
  }
}

// FNV-1a, so that a tensor's numbers depend only on its name and the seed, not on earlier layers.
uint64_t Hash(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001B3u;
  return hash;
}

int64_t WindowCount(int64_t size, int64_t kernel, int64_t stride, int64_t padding, bool ceil_mode) {
  const int64_t steps = size + padding - kernel;
  return (ceil_mode ? steps + stride - 1 : steps) / stride + 1;
}

// Uniform numbers in [-limit, limit) have the variance limit² / 3.
double UniformLimit(double gain, int64_t fan_in) {
  return std::sqrt(3.0 * gain / static_cast<double>(fan_in));
}

constexpr double kBiasLimit = 0.2;

}  // namespace

Pads SamePads(const NetworkValue& x, int64_t kernel, int64_t stride) {
  const auto total = [&](int64_t size) {
    const int64_t out = (size + stride - 1) / stride;
    return std::max<int64_t>((out - 1) * stride + kernel - size, 0);
  };
  const int64_t height = total(x.shape[2]);
  const int64_t width = total(x.shape[3]);
  return {height / 2, width / 2, height - height / 2, width - width / 2};
}

NetworkBuilder::NetworkBuilder(std::string_view network, uint64_t seed, int64_t batch, double width)
    : graph_(model_.mutable_graph()), seed_(seed), batch_(batch), width_(width) {
  model_.set_ir_version(kIrVersion);
  model_.set_producer_name("attune");
  auto* opset = model_.add_opset_import();
  opset->set_domain("");
  opset->set_version(kOpset);
  graph_->set_name(std::string(network));
}

int64_t NetworkBuilder::Scaled(int64_t channels, int64_t multiple) const {
  if (width_ == 1) return channels;
  const double parts = width_ * static_cast<double>(channels) / static_cast<double>(multiple);
  return multiple * std::max<int64_t>(1, std::lround(parts));
}

NetworkValue NetworkBuilder::Input(const std::string& name, std::vector<int64_t> shape, DType dtype) {
  NetworkValue value{name, std::move(shape), dtype};
  SetValueInfo(value, graph_->add_input());
  return value;
}

void NetworkBuilder::Output(const NetworkValue& value, const std::string& name) {
  for (auto& node : *graph_->mutable_node()) {
    std::replace(node.mutable_input()->begin(), node.mutable_input()->end(), value.name, name);
    std::replace(node.mutable_output()->begin(), node.mutable_output()->end(), value.name, name);
  }
  SetValueInfo({name, value.shape, value.dtype}, graph_->add_output());
}

std::span<float> NetworkBuilder::AddTensor(const std::string& name, const std::vector<int64_t>& shape) {
  TensorProto* tensor = graph_->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(TensorProto::FLOAT);
  tensor->mutable_dims()->Add(shape.begin(), shape.end());
  const auto count = static_cast<size_t>(Product(shape));
  std::string* bytes = tensor->mutable_raw_data();
  bytes->resize(count * sizeof(float));
  return {reinterpret_cast<float*>(bytes->data()), count};
}

void NetworkBuilder::FillUniform(const std::string& name, std::span<float> values, double limit,
                                 double center) const {
  Random random(Hash(name) + seed_ * 0x9E3779B97F4A7C15u);
  const auto step = static_cast<float>(limit * 0x1p-31);
  const auto offset = static_cast<float>(center);
  uint64_t bits = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    bits = i % 2 == 0 ? random.Next() : bits >> 32;
    values[i] = offset + step * static_cast<float>(static_cast<int32_t>(bits));
  }
}

NetworkValue NetworkBuilder::Weight(const std::string& name, std::vector<int64_t> shape, double limit,
                                    double center) {
  const std::span<float> values = AddTensor(name, shape);
  FillUniform(name, values, limit, center);
  parameters_ += static_cast<int64_t>(values.size());
  return {name, std::move(shape)};
}

NetworkValue NetworkBuilder::Constant(std::span<const float> values, std::vector<int64_t> shape) {
  const std::string name = UniqueName("constant");
  std::ranges::copy(values, AddTensor(name, shape).begin());
  return {name, std::move(shape)};
}

NetworkValue NetworkBuilder::Ints(std::span<const int64_t> values) {
  const auto count = static_cast<int64_t>(values.size());
  TensorProto* tensor = graph_->add_initializer();
  tensor->set_name(UniqueName("constant"));
  tensor->set_data_type(TensorProto::INT64);
  tensor->add_dims(count);
  tensor->mutable_raw_data()->assign(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return {tensor->name(), {count}, DType::kI64};
}

NetworkValue NetworkBuilder::IntScalar(int64_t value) {
  NetworkValue scalar = Ints(std::array{value});
  graph_->mutable_initializer(graph_->initializer_size() - 1)->clear_dims();
  scalar.shape.clear();
  return scalar;
}

NetworkValue NetworkBuilder::Node(const std::string& op_type, const std::vector<NetworkValue>& inputs,
                                  std::vector<int64_t> shape, const NetworkAttributes& attributes,
                                  std::string name) {
  if (name.empty()) name = UniqueName(op_type);
  auto* node = graph_->add_node();
  node->set_op_type(op_type);
  node->set_name(name);
  for (const NetworkValue& input : inputs) node->add_input(input.name);
  for (const auto& [key, value] : attributes) SetAttribute(key, value, node->add_attribute());
  const std::string output = absl::StrCat(name, "_output");
  node->add_output(output);
  // The output has the type of the first input, except for the few operators that look up or compute
  // integers.
  const DType dtype = inputs.empty() ? DType::kF32 : inputs[0].dtype;
  return {output, std::move(shape), dtype};
}

NetworkValue NetworkBuilder::Conv(const std::string& name, const NetworkValue& x,
                                  const ConvOptions& options) {
  const auto [height, width] = options.kernel;
  const int64_t group_channels = x.shape[1] / options.groups;
  const int64_t fan_in = group_channels * height * width;
  std::vector<NetworkValue> inputs = {
      x, Weight(name + ".weight", {options.channels, group_channels, height, width},
                UniformLimit(options.gain, fan_in))};
  if (options.bias) {
    inputs.push_back(Weight(name + ".bias", {options.channels}, kBiasLimit, options.bias_center));
  }
  const Pads& pads = options.pads;
  std::vector<int64_t> shape = {x.shape[0], options.channels,
                                WindowCount(x.shape[2], height, options.stride, pads[0] + pads[2], false),
                                WindowCount(x.shape[3], width, options.stride, pads[1] + pads[3], false)};
  macs_ += Product(shape) * fan_in;
  return Node("Conv", inputs, std::move(shape),
              {{"dilations", std::vector<int64_t>{1, 1}},
               {"group", options.groups},
               {"kernel_shape", std::vector<int64_t>{height, width}},
               {"pads", std::vector<int64_t>(pads.begin(), pads.end())},
               {"strides", std::vector<int64_t>{options.stride, options.stride}}},
              name);
}

NetworkValue NetworkBuilder::BatchNorm(const std::string& name, const NetworkValue& x,
                                       const BatchNormOptions& options) {
  const std::vector<int64_t> shape = {x.shape[1]};
  const NetworkValue scale = Weight(name + ".weight", shape, 0.2 * options.scale, options.scale);
  const NetworkValue bias = Weight(name + ".bias", shape, kBiasLimit * options.scale);
  const NetworkValue mean = {name + ".running_mean", shape};
  const NetworkValue variance = {name + ".running_var", shape};
  FillUniform(mean.name, AddTensor(mean.name, shape), 0.2, 0.0);
  const std::span<float> variances = AddTensor(variance.name, shape);
  FillUniform(variance.name, variances, 0.5, 1.0);
  // The input's variance is about 1 in every channel, whatever the statistics say: cancel them on average.
  const int scale_index = graph_->initializer_size() - 4;
  auto* scales =
      reinterpret_cast<float*>(graph_->mutable_initializer(scale_index)->mutable_raw_data()->data());
  for (size_t i = 0; i < variances.size(); ++i) scales[i] *= std::sqrt(variances[i]);
  return Node("BatchNormalization", {x, scale, bias, mean, variance}, x.shape, {{"epsilon", options.epsilon}},
              name);
}

NetworkValue NetworkBuilder::Linear(const std::string& name, const NetworkValue& x, int64_t units,
                                    double gain) {
  const int64_t depth = x.shape[1];
  const NetworkValue weight = Weight(name + ".weight", {units, depth}, UniformLimit(gain, depth));
  const NetworkValue bias = Weight(name + ".bias", {units}, kBiasLimit);
  macs_ += x.shape[0] * depth * units;
  return Node("Gemm", {x, weight, bias}, {x.shape[0], units},
              {{"alpha", 1.0f}, {"beta", 1.0f}, {"transB", 1}}, name);
}

NetworkValue NetworkBuilder::Dense(const std::string& name, const NetworkValue& x, int64_t units,
                                   double gain) {
  const int64_t depth = x.shape.back();
  const NetworkValue weight = Weight(name + ".weight", {depth, units}, UniformLimit(gain, depth));
  const NetworkValue bias = Weight(name + ".bias", {units}, kBiasLimit);
  return Add(MatMul(x, weight), bias);
}

NetworkValue NetworkBuilder::Clip(const NetworkValue& x, float low, float high) {
  return Node("Clip", {x, Scalar(low), Scalar(high)}, x.shape);
}

NetworkValue NetworkBuilder::Binary(const std::string& op_type, const NetworkValue& a,
                                    const NetworkValue& b) {
  const bool a_longer = a.shape.size() >= b.shape.size();
  std::vector<int64_t> shape = a_longer ? a.shape : b.shape;
  const std::vector<int64_t>& other = a_longer ? b.shape : a.shape;
  const size_t offset = shape.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    if (shape[offset + i] == 1) shape[offset + i] = other[i];
  }
  return Node(op_type, {a, b}, std::move(shape));
}

NetworkValue NetworkBuilder::Pool(const std::string& op_type, const NetworkValue& x,
                                  const PoolOptions& options, NetworkAttributes attributes) {
  const Pads& pads = options.pads;
  const auto count = [&](int64_t size, int64_t padding) {
    return WindowCount(size, options.kernel, options.stride, padding, options.ceil_mode);
  };
  std::vector<int64_t> shape = {x.shape[0], x.shape[1], count(x.shape[2], pads[0] + pads[2]),
                                count(x.shape[3], pads[1] + pads[3])};
  attributes.push_back({"ceil_mode", int64_t{options.ceil_mode}});
  attributes.push_back({"kernel_shape", std::vector<int64_t>{options.kernel, options.kernel}});
  attributes.push_back({"pads", std::vector<int64_t>(pads.begin(), pads.end())});
  attributes.push_back({"strides", std::vector<int64_t>{options.stride, options.stride}});
  return Node(op_type, {x}, std::move(shape), attributes);
}

NetworkValue NetworkBuilder::MaxPool(const NetworkValue& x, const PoolOptions& options) {
  return Pool("MaxPool", x, options, {});
}

NetworkValue NetworkBuilder::AveragePool(const NetworkValue& x, const PoolOptions& options) {
  return Pool("AveragePool", x, options, {{"count_include_pad", 1}});
}

NetworkValue NetworkBuilder::GlobalAveragePool(const NetworkValue& x) {
  return Node("GlobalAveragePool", {x}, {x.shape[0], x.shape[1], 1, 1});
}

NetworkValue NetworkBuilder::MatMul(const NetworkValue& a, const NetworkValue& b) {
  std::vector<int64_t> shape = a.shape;
  const int64_t depth = shape.back();
  shape.back() = b.shape.back();
  macs_ += Product(shape) * depth;
  return Node("MatMul", {a, b}, std::move(shape));
}

NetworkValue NetworkBuilder::Gather(const NetworkValue& x, const NetworkValue& indices, int64_t axis) {
  std::vector<int64_t> shape = x.shape;
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, indices.shape.begin(), indices.shape.end());
  return Node("Gather", {x, indices}, std::move(shape), {{"axis", axis}});
}

NetworkValue NetworkBuilder::Concat(const std::vector<NetworkValue>& values, int64_t axis) {
  std::vector<int64_t> shape = values[0].shape;
  for (size_t i = 1; i < values.size(); ++i) shape[axis] += values[i].shape[axis];
  return Node("Concat", values, std::move(shape), {{"axis", axis}});
}

NetworkValue NetworkBuilder::Slice(const NetworkValue& x, int64_t axis, int64_t begin, int64_t end) {
  std::vector<int64_t> shape = x.shape;
  shape[axis] = end - begin;
  return Node("Slice", {x, Ints(std::array{begin}), Ints(std::array{end}), Ints(std::array{axis})},
              std::move(shape));
}

NetworkValue NetworkBuilder::Flatten(const NetworkValue& x) {
  const int64_t rest = Product(std::span(x.shape).subspan(1));
  return Node("Flatten", {x}, {x.shape[0], rest}, {{"axis", 1}});
}

NetworkValue NetworkBuilder::Reshape(const NetworkValue& x, std::vector<int64_t> shape) {
  return Node("Reshape", {x, Ints(shape)}, shape);
}

NetworkValue NetworkBuilder::Transpose(const NetworkValue& x, const std::vector<int64_t>& permutation) {
  std::vector<int64_t> shape;
  for (int64_t axis : permutation) shape.push_back(x.shape[axis]);
  return Node("Transpose", {x}, std::move(shape), {{"perm", permutation}});
}

std::string NetworkBuilder::UniqueName(const std::string& prefix) {
  return absl::StrCat(prefix, "_", next_name_++);
}

}  // namespace attune
