#include "zoo/transformer.h"

#include <numbers>

namespace attune {
namespace {

struct ScaleAndBias {
  NetworkValue scale, bias;
};

ScaleAndBias NormParameters(NetworkBuilder& b, const std::string& name, int64_t width) {
  return {b.Weight(name + ".weight", {width}, 0.2, 1.0), b.Weight(name + ".bias", {width}, 0.1)};
}

NetworkValue MeanOfLastAxis(NetworkBuilder& b, const NetworkValue& x) {
  std::vector<int64_t> shape = x.shape;
  shape.back() = 1;
  return b.Node("ReduceMean", {x}, std::move(shape), {{"axes", std::vector<int64_t>{-1}}, {"keepdims", 1}});
}

}  // namespace

NetworkValue Gelu(NetworkBuilder& b, const NetworkValue& x) {
  const NetworkValue scaled = b.Binary("Div", x, b.Scalar(std::numbers::sqrt2_v<float>));
  const NetworkValue erf = b.Node("Erf", {scaled}, x.shape);
  const NetworkValue twice = b.Mul(x, b.Add(erf, b.Scalar(1.0f)));
  return b.Mul(twice, b.Scalar(0.5f));
}

NetworkValue DecomposedLayerNorm(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                                 float epsilon) {
  const auto [scale, bias] = NormParameters(b, name, x.shape.back());
  const NetworkValue centered = b.Binary("Sub", x, MeanOfLastAxis(b, x));
  const NetworkValue variance = MeanOfLastAxis(b, b.Binary("Pow", centered, b.Scalar(2.0f)));
  const NetworkValue shifted = b.Add(variance, b.Scalar(epsilon));
  const NetworkValue deviation = b.Node("Sqrt", {shifted}, shifted.shape);
  return b.Add(b.Mul(b.Binary("Div", centered, deviation), scale), bias);
}

NetworkValue LayerNorm(NetworkBuilder& b, const std::string& name, const NetworkValue& x, float epsilon) {
  const auto [scale, bias] = NormParameters(b, name, x.shape.back());
  return b.Node("LayerNormalization", {x, scale, bias}, x.shape, {{"axis", -1}, {"epsilon", epsilon}}, name);
}

}  // namespace attune
