#include "import/tflite/sparse.h"

#include <cstring>
#include <vector>

#include "import/common/emitter.h"
#include "import/tflite/model.h"

namespace attune::tflite {
namespace {

// One axis, in the order of traversal.
struct Level {
  int64_t size = 0;    // indices are below it
  int64_t stride = 0;  // in the dense tensor, in elements
  bool dense = true;
  Ints segments;  // for each entry of the previous level, the start and the end of its indices
  Ints indices;
};

Ints ReadIndices(schema::SparseIndexVector type, const void* vector) {
  switch (type) {
    case schema::SparseIndexVector::Int32Vector:
      return ToInts(static_cast<const schema::Int32Vector*>(vector)->values());
    case schema::SparseIndexVector::Uint16Vector:
      return ToInts(static_cast<const schema::Uint16Vector*>(vector)->values());
    case schema::SparseIndexVector::Uint8Vector:
      return ToInts(static_cast<const schema::Uint8Vector*>(vector)->values());
    default:
      return {};
  }
}

class Densifier {
 public:
  Densifier(const schema::SparsityParameters& sparsity, const Tensor& values, const Shape& shape)
      : values_(values), result_(OrThrow(Tensor::Allocate(values.dtype(), shape))) {
    ReadLevels(sparsity, shape);
  }

  Tensor Run() {
    if (result_.num_elements() > 0) Visit(0, 0, 0);
    if (next_ != values_.num_elements()) {
      Invalid("a sparse tensor has ", values_.num_elements(), " values and places for ", next_);
    }
    return result_;
  }

 private:
  // Axes of the tensor come first, then those of its blocks. A blocked axis is traversed in steps of its
  // block.
  void ReadLevels(const schema::SparsityParameters& sparsity, const Shape& shape) {
    const Ints order = ToInts(sparsity.traversal_order());
    const Ints blocked = ToInts(sparsity.block_map());
    const size_t rank = shape.size();
    if (order.size() != rank + blocked.size() ||
        SizeOf(sparsity.dim_metadata()) != SizeOf(sparsity.traversal_order())) {
      Invalid("a sparse tensor has ", order.size(), " axes to traverse and ", SizeOf(sparsity.dim_metadata()),
              " described, its shape has ", rank, " and its blocks ", blocked.size());
    }
    Ints sizes = shape;
    Ints strides(rank, 1);
    for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    for (size_t i = 0; i < blocked.size(); ++i)
      AddBlock(sparsity, order, rank + i, blocked[i], sizes, strides);
    std::vector<bool> seen(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const int64_t axis = order[i];
      // The tensor's own axes come first.
      const bool own = i < rank;
      if (axis < (own ? 0 : static_cast<int64_t>(rank)) ||
          axis >= static_cast<int64_t>(own ? rank : order.size()) || seen[axis]) {
        Invalid("a sparse tensor traverses axis ", axis, " at ", i);
      }
      seen[axis] = true;
      levels_.push_back(ReadLevel(*sparsity.dim_metadata()->Get(static_cast<uint32_t>(i)), sizes[axis]));
      levels_.back().stride = strides[axis];
    }
  }

  // Splits `axis` into blocks; the level that traverses them states their size.
  static void AddBlock(const schema::SparsityParameters& sparsity, const Ints& order, size_t block,
                       int64_t axis, Ints& sizes, Ints& strides) {
    size_t level = 0;
    while (level < order.size() && order[level] != static_cast<int64_t>(block)) ++level;
    if (level == order.size()) Invalid("a sparse tensor does not traverse its axis ", block);
    const int64_t size = sparsity.dim_metadata()->Get(static_cast<uint32_t>(level))->dense_size();
    if (axis < 0 || axis >= static_cast<int64_t>(sizes.size()) || size < 1 || sizes[axis] % size != 0) {
      Invalid("a sparse tensor has blocks of ", size, " along its axis ", axis);
    }
    sizes.push_back(size);
    strides.push_back(strides[axis]);
    sizes[axis] /= size;
    strides[axis] *= size;
  }

  static Level ReadLevel(const schema::DimensionMetadata& stored, int64_t size) {
    Level level;
    level.size = size;
    level.dense = stored.format() == schema::DimensionType::DENSE;
    if (level.dense) {
      if (stored.dense_size() != size) {
        Invalid("a sparse tensor has a dense axis of ", stored.dense_size(), " where its shape has ", size);
      }
      return level;
    }
    level.segments = ReadIndices(stored.array_segments_type(), stored.array_segments());
    level.indices = ReadIndices(stored.array_indices_type(), stored.array_indices());
    int64_t last = 0;
    for (int64_t begin : level.segments) {
      if (begin < last || begin > static_cast<int64_t>(level.indices.size())) {
        Invalid("a sparse tensor's segments are not in order");
      }
      last = begin;
    }
    for (int64_t index : level.indices) {
      if (index < 0 || index >= size) Invalid("a sparse tensor's index ", index, " is not below ", size);
    }
    return level;
  }

  // `entry` is the number of the entry in the previous level, `place` its offset in the dense tensor. The
  // recursion is at most twice as deep as the rank.
  void Visit(size_t at, int64_t entry, int64_t place) {
    if (at == levels_.size()) {
      Store(place);
      return;
    }
    const Level& level = levels_[at];
    if (level.dense) {
      for (int64_t i = 0; i < level.size; ++i)
        Visit(at + 1, entry * level.size + i, place + i * level.stride);
      return;
    }
    if (entry + 1 >= static_cast<int64_t>(level.segments.size())) Invalid("a sparse tensor lacks segments");
    for (int64_t i = level.segments[entry]; i < level.segments[entry + 1]; ++i) {
      Visit(at + 1, i, place + level.indices[i] * level.stride);
    }
  }

  void Store(int64_t place) {
    if (next_ == values_.num_elements()) Invalid("a sparse tensor has fewer values than places");
    const int64_t size = DTypeSize(values_.dtype());
    std::memcpy(result_.mutable_data() + place * size, values_.data() + next_ * size, size);
    ++next_;
  }

  const Tensor& values_;
  Tensor result_;
  std::vector<Level> levels_;
  int64_t next_ = 0;
};

}  // namespace

Tensor Densified(const schema::SparsityParameters& sparsity, const Tensor& values, const Shape& shape) {
  return Densifier(sparsity, values, shape).Run();
}

}  // namespace attune::tflite
