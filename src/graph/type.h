// The type of a value in the Graph IR: element type, shape, layout.
#ifndef ATTUNE_GRAPH_TYPE_H_
#define ATTUNE_GRAPH_TYPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "graph/tensor.h"

namespace attune {

// One dimension: a constant, or a symbol whose value is known only when data has been seen (how many
// boxes a non-max suppression keeps) and that never exceeds its bound. Memory is planned for the bound.
struct Dim {
  int64_t size = 0;    // the constant, or the symbol's bound; never negative
  std::string symbol;  // empty for a constant

  Dim() = default;
  Dim(int64_t constant) : size(constant) {}  // NOLINT: a number is a dimension
  Dim(std::string name, int64_t bound) : size(bound), symbol(std::move(name)) {}
  bool is_constant() const { return symbol.empty(); }
  bool operator==(const Dim&) const = default;
};

// How a tensor lies in memory. Plain is dense and row-major. Blocked splits one axis C into
// ceil(C / block) blocks and moves the block to the end: for axis 1 and block 16, NCHW becomes
// NCHW16c, physical shape [N, ceil(C/16), H, W, 16]. Elements of the last block beyond C are unspecified.
struct Layout {
  int blocked_axis = -1;  // -1: plain
  int block = 1;

  bool is_plain() const { return blocked_axis < 0; }
  bool operator==(const Layout&) const = default;
};

struct TensorType {
  DType dtype = DType::kF32;
  std::vector<Dim> dims;
  Layout layout;

  TensorType() = default;
  TensorType(DType type, std::vector<Dim> dimensions) : dtype(type), dims(std::move(dimensions)) {}
  TensorType(DType type, const Shape& shape) : dtype(type), dims(shape.begin(), shape.end()) {}

  int rank() const { return static_cast<int>(dims.size()); }
  bool is_static() const;
  // The exact shape of a static type; a dynamic dimension has its bound as its size.
  Shape shape() const;
  // The shape in memory: shape(), with the blocked axis split as Layout says.
  Shape physical_shape() const;
  // Elements of shape() and of physical_shape(). Verified types never overflow.
  int64_t num_elements() const;
  int64_t num_physical_elements() const;
  // The bytes that its elements take in memory.
  int64_t num_physical_bytes() const;

  bool operator==(const TensorType&) const = default;
};

// "f32[1,64,56,56]", "f32[1,64,56,56]{c1/16}" blocked by 16 along axis 1, "i64[n<=100,3]" with a bounded
// symbol, "f32[]" a scalar.
std::string ToString(const TensorType& type);

}  // namespace attune

#endif  // ATTUNE_GRAPH_TYPE_H_
