// Helpers to write patterns: nodes by name; a failure anywhere makes all that follows null.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_PATTERN_BUILDER_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_PATTERN_BUILDER_H_

#include <utility>
#include <vector>

#include "graph_maker.h"

namespace attune::graph_fuzz {

// Null operands give null results, so that patterns need no checks for failures.
class PatternBuilder {
 public:
  explicit PatternBuilder(GraphMaker& maker) : maker_(maker) {}

  // Every input must be present.
  Value* Add(Op op, std::vector<Value*> inputs, Attributes attrs = {});

  // A constant of x's type that broadcasts along the channels, or along the last axis.
  Value* PerChannel(const Value* x);
  Value* PerColumn(const Value* x);
  Value* Scalar(const Value* x, double value);
  // Small constants, of x's dtype.
  Value* Weights(const Value* x, const Shape& shape);

  struct ConvOptions {
    int64_t kernel = 1, stride = 1, group = 1;
    bool bias = true;
  };
  // Padded so that the size stays with stride 1.
  Value* Conv(Value* x, int64_t channels, const ConvOptions& options);
  Value* Pool(Op op, Value* x, int64_t kernel, int64_t stride);
  // x times constant weights, sometimes with a bias.
  Value* Dense(Value* x, int64_t columns);
  // A usual activation function.
  Value* Activation(Value* x);
  // A feature map of f32 (seldom of another float type) with an even number of channels.
  Value* Map();
  // [batch, positions, columns]
  Value* Sequence();
  Value* ReshapeTo(Value* x, const Shape& shape);
  Value* TransposeTo(Value* x, const Ints& perm);

  static int64_t ChannelsOf(const Value* x) { return x->type().dims[1].size; }

 private:
  GraphMaker& maker_;
};

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_PATTERN_BUILDER_H_
