#include "zoo/squeeze_excite.h"

namespace attune {
namespace {

// Keeps the gates from saturating.
constexpr double kGateGain = 0.25;

}  // namespace

NetworkValue SqueezeExcite(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                           const SqueezeExciteOptions& options) {
  const ConvOptions squeeze = {.channels = options.squeezed, .bias = true, .gain = kLinearGain};
  const ConvOptions excite = {.channels = x.shape[1], .bias = true, .gain = kGateGain};
  NetworkValue y = b.Conv(name + ".fc1", b.GlobalAveragePool(x), squeeze);
  y = b.Conv(name + ".fc2", options.activation(b, y), excite);
  return b.Mul(options.gate(b, y), x);
}

}  // namespace attune
