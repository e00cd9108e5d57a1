// How to add one node of each operator to a random graph.
//
// A recipe draws operands and attributes that fit its operator, with odd sizes, shared and repeated values
// and every mode. It may fail: then it has added nothing, except perhaps inputs that nothing uses.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_RECIPES_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_RECIPES_H_

#include <span>

#include "graph_maker.h"

namespace attune::graph_fuzz {

struct Recipe {
  Op op;
  // Output 0 of the node that was added, or null.
  Value* (*add)(GraphMaker&, Op);
  // How often it is drawn, relative to the sum of all weights.
  int weight = 2;
};

// All operators except constant, which recipes use for operands, and layout_transform and fused, which the
// compiler makes.
std::span<const Recipe> Recipes();
// The operator's recipe; null if it has none.
const Recipe* FindRecipe(Op op);

// Draws recipes by their weights until one succeeds, for a graph of integers those that judge_integers.py
// judges. Null if many in a row have failed.
Value* AddRandomNode(GraphMaker& maker);

// The recipes, one file for each kind of operator.
Value* AddUnary(GraphMaker&, Op);  // recipes_elementwise.cc
Value* AddBinary(GraphMaker&, Op);
Value* AddCast(GraphMaker&, Op);
Value* AddWhere(GraphMaker&, Op);
Value* AddReshape(GraphMaker&, Op);  // recipes_movement.cc
Value* AddTranspose(GraphMaker&, Op);
Value* AddIota(GraphMaker&, Op);
Value* AddBroadcast(GraphMaker&, Op);
Value* AddSlice(GraphMaker&, Op);
Value* AddConcat(GraphMaker&, Op);
Value* AddPad(GraphMaker&, Op);
Value* AddDepthSpace(GraphMaker&, Op);
Value* AddReverseSequence(GraphMaker&, Op);
Value* AddGather(GraphMaker&, Op);  // recipes_indexed.cc
Value* AddGatherElements(GraphMaker&, Op);
Value* AddGatherNd(GraphMaker&, Op);
Value* AddScatterElements(GraphMaker&, Op);
Value* AddScatterNd(GraphMaker&, Op);
Value* AddCheckIndex(GraphMaker&, Op);
Value* AddReduction(GraphMaker&, Op);  // recipes_reduction.cc
Value* AddArgExtreme(GraphMaker&, Op);
Value* AddScan(GraphMaker&, Op);
Value* AddTopK(GraphMaker&, Op);
Value* AddConv(GraphMaker&, Op);  // recipes_contraction.cc
Value* AddConvTranspose(GraphMaker&, Op);
Value* AddDeformConv(GraphMaker&, Op);
Value* AddMatMul(GraphMaker&, Op);
Value* AddAttention(GraphMaker&, Op);
Value* AddDet(GraphMaker&, Op);
Value* AddConvInteger(GraphMaker&, Op);  // recipes_quantized.cc
Value* AddMatMulInteger(GraphMaker&, Op);
Value* AddQuantize(GraphMaker&, Op);
Value* AddDequantize(GraphMaker&, Op);
Value* AddRequantize(GraphMaker&, Op);
Value* AddPool(GraphMaker&, Op);  // recipes_window.cc
Value* AddLrn(GraphMaker&, Op);
Value* AddCol2Im(GraphMaker&, Op);
Value* AddBatchNorm(GraphMaker&, Op);
Value* AddTailNorm(GraphMaker&, Op);
Value* AddGroupNorm(GraphMaker&, Op);
Value* AddSoftmax(GraphMaker&, Op);
Value* AddResize(GraphMaker&, Op);  // recipes_sampling.cc
Value* AddGridSample(GraphMaker&, Op);
Value* AddRoiAlign(GraphMaker&, Op);
Value* AddNonZero(GraphMaker&, Op);  // recipes_dynamic.cc
Value* AddNonMaxSuppression(GraphMaker&, Op);
Value* AddCompress(GraphMaker&, Op);
Value* AddUnique(GraphMaker&, Op);
Value* AddIf(GraphMaker&, Op);  // recipes_control.cc
Value* AddLoop(GraphMaker&, Op);

// Attributes of a window over `sizes`, the spatial dimensions; the kernel is drawn too, and the window
// fits. With `pads_in_window`, every pad is smaller than the kernel.
struct RandomWindow {
  Ints kernel, strides, pads, dilations;
  Attributes AsAttributes() const;  // all but the kernel; those with default values are left out at random
  bool leave_out = false;
};
RandomWindow DrawWindow(GraphMaker& maker, const Shape& sizes, bool pads_in_window);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_RECIPES_H_
