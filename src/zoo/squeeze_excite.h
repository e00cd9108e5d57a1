// Squeeze and excitation: Hu et al., Squeeze-and-Excitation Networks, 2018.
#ifndef ATTUNE_ZOO_SQUEEZE_EXCITE_H_
#define ATTUNE_ZOO_SQUEEZE_EXCITE_H_

#include <string>

#include "zoo/builder.h"

namespace attune {

using Activation = NetworkValue (*)(NetworkBuilder&, const NetworkValue&);

struct SqueezeExciteOptions {
  int64_t squeezed = 0;  // number of channels between the two layers
  Activation activation = nullptr;
  Activation gate = nullptr;  // maps to 0 … 1
};

// Multiplies each channel of `x` by a gate, which the layers NAME.fc1 and NAME.fc2 compute from the
// channels' means.
NetworkValue SqueezeExcite(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                           const SqueezeExciteOptions& options);

}  // namespace attune

#endif  // ATTUNE_ZOO_SQUEEZE_EXCITE_H_
