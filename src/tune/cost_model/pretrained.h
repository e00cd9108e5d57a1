// The text of the pretrained cost model, src/tune/cost_model/pretrained_model.txt, which the build puts into
// the program.
#ifndef ATTUNE_TUNE_COST_MODEL_PRETRAINED_H_
#define ATTUNE_TUNE_COST_MODEL_PRETRAINED_H_

#include <string_view>

namespace attune {

extern const std::string_view kPretrainedModel;

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_PRETRAINED_H_
