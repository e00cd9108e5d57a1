// Compute definitions: what a kernel computes, without saying in which order.
#ifndef ATTUNE_TENSOR_COMPUTE_H_
#define ATTUNE_TENSOR_COMPUTE_H_

#include <string>
#include <vector>

#include "tensor/stmt.h"

namespace attune {

// The variable takes the values [min, min + extent): from 0 on, unless a stage computes a part of its output.
struct Axis {
  Var var;
  Extent extent;
  Extent min = 0;
};

// One tensor of a kernel.
//
// A computed stage has one axis for each dimension of its output and defines
//   output[axes] = value                                             without reduce axes
//   output[axes] = combine over reduce_axes (starting from init) of value   with them
// where terms whose `where` does not hold are left out (elements, without reduce axes, are left as they are).
//
// Several stages may share an output, each of which computes a part of it. They are never inlined or moved.
//
// An imperative stage has a body instead, which writes its output and possibly others: for what no such
// formula expresses (sorting, non-max suppression). It is never inlined, moved or split.
struct Stage {
  std::string name;  // unique within the definition; loops are named after it
  Buffer output;
  std::vector<Axis> axes;
  std::vector<Axis> reduce_axes;
  MathOp combiner = MathOp::kAdd;  // add, mul, min, max, and, or
  Expr init;
  Expr value;
  Expr where;                         // null: always
  Stmt body;                          // imperative
  std::vector<Buffer> other_outputs;  // imperative: what the body writes besides `output`

  bool is_reduction() const { return !reduce_axes.empty(); }
  bool is_imperative() const { return body != nullptr; }
};

// Stages in an order in which each reads only params and the outputs of earlier ones.
struct ComputeDef {
  std::string name;
  std::vector<LoopNest::Param> params;  // inputs and outputs; workspaces are added by lowering
  Buffer dims_buffer;                   // see LoopNest
  std::vector<SizeParam> sizes;         // see LoopNest
  std::vector<Stage> stages;
};

}  // namespace attune

#endif  // ATTUNE_TENSOR_COMPUTE_H_
