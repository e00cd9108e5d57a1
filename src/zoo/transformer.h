// The components that BERT and ViT share.
#ifndef ATTUNE_ZOO_TRANSFORMER_H_
#define ATTUNE_ZOO_TRANSFORMER_H_

#include <string>

#include "zoo/builder.h"

namespace attune {

// x · Φ(x) in the form that exporters write: x · (erf(x / √2) + 1) · ½.
NetworkValue Gelu(NetworkBuilder& b, const NetworkValue& x);

// Over the last axis, with NAME.weight and NAME.bias: decomposed, as exporters write it below opset 17, or
// as one LayerNormalization.
NetworkValue DecomposedLayerNorm(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                                 float epsilon);
NetworkValue LayerNorm(NetworkBuilder& b, const std::string& name, const NetworkValue& x, float epsilon);

}  // namespace attune

#endif  // ATTUNE_ZOO_TRANSFORMER_H_
