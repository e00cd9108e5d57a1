// Squeeze and excitation: Hu et al., Squeeze-and-Excitation Networks, 2018.
#ifndef ATTUNE_ZOO_SQUEEZE_EXCITE_H_
#define ATTUNE_ZOO_SQUEEZE_EXCITE_H_

#include <string>

#include "zoo/builder.h"

namespace attune {

using Activation = NetworkValue (*)(NetworkBuilder&, const NetworkValue&);

struct SqueezeExciteOptions {
  int64_t squeezed = 0;  // channels between the two layers
  Activation activation = nullptr;
  Activation gate = nullptr;  // to 0 … 1
};

// `x` times a gate a channel, from the channel's mean, with the layers NAME.fc1 and NAME.fc2.
NetworkValue SqueezeExcite(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                           const SqueezeExciteOptions& options);

}  // namespace attune

#endif  // ATTUNE_ZOO_SQUEEZE_EXCITE_H_
