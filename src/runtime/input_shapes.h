// The input shapes that a program takes, and the values that they give its open sizes.
#ifndef ATTUNE_RUNTIME_INPUT_SHAPES_H_
#define ATTUNE_RUNTIME_INPUT_SHAPES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "artifact/artifact.h"
#include "runtime/error.h"

namespace attune {

// Whether a program without open sizes has inputs of these shapes.
bool TakesShapes(const Program& program, std::span<const attune_shape> shapes);

// Sets `sizes`, which has one element for each size of the program, to the values that the shapes of all its
// inputs give them. The error names the input and the dimension that the program does not take.
RuntimeStatus BindSizes(const Program& program, std::span<const attune_shape> shapes,
                        std::span<int64_t> sizes);

// The least sizes that are at least 1, where they may be.
std::vector<int64_t> SmallestSizes(const Program& program);

// "batch=3 seq=128".
std::string SizesText(const Program& program, std::span<const int64_t> sizes);

// The shapes of the inputs: "x=1x3x224x224 ids=batch:1..8x128". A dimension that is computed from sizes is
// written as its bound: "..64".
std::string InputShapesText(const Program& program);

}  // namespace attune

#endif  // ATTUNE_RUNTIME_INPUT_SHAPES_H_
