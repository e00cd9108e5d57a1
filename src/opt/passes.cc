#include "opt/passes.h"

namespace attune {

std::span<const PassInfo> PassTable() {
  static const std::vector<PassParameter> kFolding = {
      {"max_bytes", 16 << 20, "largest result"},
      {"max_growth", 16 << 10, "how many elements more than its inputs a result may have"},
      {"max_macs", 1 << 30, "most multiply-adds of a contraction"}};
  static const auto* table = new std::vector<PassInfo>{
      {"dead_code", DeadCodePass, "Nothing is spent on what no output needs.", {}},
      {"fold_constants", FoldConstantsPass, "Values that depend on no input are computed now.", kFolding},
      {"inline_branches",
       InlineBranchesPass,
       "Folding may have decided conditions; the branch is more to fold.",
       {}},
      {"sink_dequantize",
       SinkDequantizePass,
       "Products see that their operands are integers, and weights are moved as integers.",
       {}},
      {"fold_constants", FoldConstantsPass, "Branches were waiting for their constants.", kFolding},
      {"integer_products", IntegerProductsPass, "Before anything mixes with the dequantizations.", {}},
      {"eliminate", EliminatePass, "What does nothing hides the patterns that follow.", {}},
      {"common_subexpressions", CommonSubexpressionsPass, "A repeated piece of a pattern is one value.", {}},

      {"recognize_activations",
       RecognizeActivationsPass,
       "As exported, before algebra rewrites the pieces.",
       {}},
      {"recognize_normalizations",
       RecognizeNormalizationsPass,
       "As exported; makes the softmax of attention.",
       {}},
      {"algebra", AlgebraPass, "Canonical forms for all that follows.", {}},
      {"recognize_attention",
       RecognizeAttentionPass,
       "Wants softmax, and products with transposes inside.",
       {}},

      {"decompose_batch_norm", DecomposeBatchNormPass, "A factor and an offset, which others can fold.", {}},
      {"flatten_volumes", FlattenVolumesPass, "Its transpositions are still to cancel.", {}},
      {"fold_constants", FoldConstantsPass, "The order of its weights.", kFolding},
      {"push_slices", PushSlicesPass, "Less to transpose, and transposes that are reshapes.", {}},
      {"sink_transposes", SinkTransposesPass, "Cancels what surrounds channels-first operators.", {}},
      {"fold_constants", FoldConstantsPass, "Constants that transposes moved across.", kFolding},
      {"eliminate", EliminatePass, "Transposes that became identities or reshapes.", {}},
      {"fold_pad", FoldPadPass, "Pads now stand directly before their convolutions.", {}},
      {"decompose_group_norm", DecomposeGroupNormPass, "Its reshapes are still to be moved.", {}},
      {"unsqueeze_images", UnsqueezeImagesPass, "Pads are folded; its reshapes are still to be moved.", {}},
      {"algebra", AlgebraPass, "Neighbouring factors and offsets become one before they are folded.", {}},
      {"sink_reshapes", SinkReshapesPass, "A squeezed convolution comes to stand beside its offset.", {}},
      {"fold_affine", FoldAffinePass, "Batch normalization ends in the weights.", {}},

      {"fold_zero_points", FoldZeroPointsPass, "Transposes and pads are where they stay.", {}},
      {"fold_constants", FoldConstantsPass, "Sums of stacked weights.", kFolding},
      {"fold_scales", FoldScalesPass, "Offsets for the zero points are there.", {}},
      {"linearize_integers", LinearizeIntegersPass, "Where integers come from is still to be seen.", {}},
      {"decompose_quantization", DecomposeQuantizationPass, "What is left of it is arithmetic.", {}},
      {"algebra", AlgebraPass, "Its offsets meet the biases.", {}},

      {"hoist_pools", HoistPoolsPass, "Nothing is left between a convolution and its pool.", {}},
      {"decompose_conv_transpose",
       DecomposeConvTransposePass,
       "Convolutions have fast kernels; offsets and factors are in the weights now.",
       {}},

      {"fuse_horizontal",
       FuseHorizontalPass,
       "Branches are comparable once nothing is left to fold into them.",
       {{"max_channels", 128, "most output channels of a convolution that is merged; 0: none is"},
        {"max_columns", 256, "most columns of a matrix that is merged; 0: none is"},
        {"multiple", 16, "of what the channels must be a multiple, so that slices stay aligned"}}},
      {"sink_reshapes", SinkReshapesPass, "Elementwise operators come to stand beside their kernel.", {}},
      {"algebra", AlgebraPass, "Reshapes that met.", {}},
      {"narrow",
       NarrowPass,
       "What is left is what will run.",
       {{"bf16", 0, "1: values between layers are bf16, which their products take"},
        {"max_error", 100, "what a layer may err so, in 1/10000 of its output; 0: nothing is measured"}}},
      {"round_weights",
       RoundWeightsPass,
       "Of what will run, and nothing changes weights after.",
       {{"f16", 0,
         "1: weights are f32 that f16 has, so that files and some kernels can have them in 16 bits"},
        {"bf16", 0, "1: likewise of bf16"}}},
      {"eliminate", EliminatePass, "Reshapes and casts that cancelled.", {}},
      {"common_subexpressions", CommonSubexpressionsPass, "Constants that several passes made alike.", {}},
      {"swap_planes", SwapPlanesPass, "Transpositions are where they stay, and once.", {}},
      {"split_products",
       SplitProductsPass,
       "Each part of an operand has nodes of its own, which would be one for all before.",
       {{"bf16x3", 0, "1: products of f32 are three of bf16"},
        {"min_uses", 256, "least products that each element of an operand that is split takes part in"}}},
      {"dead_code", DeadCodePass, "Fusion must not see uses by dead nodes.", {}},
      {"check_indices",
       CheckIndicesPass,
       "Other passes see through indices, and what is left of them is what will run.",
       {{"unchecked", 0, "1: indices out of range are clamped"}}},
      {"fuse",
       FusePass,
       "Last: lowering takes groups, and no other pass looks into them.",
       {{"epilogues", 1, "0: contractions and other anchors stand alone"},
        {"prologues", 1, "0: elementwise producers stay outside of reductions and data movement"},
        {"max_nodes", 64, "most nodes of a group"},
        {"max_inputs", 16, "most inputs of a group that has more than one node"}}},
  };
  return *table;
}

const PassInfo* FindPass(std::string_view name) {
  for (const PassInfo& info : PassTable()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace attune
