#include "runtime/input_shapes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "artifact/size_code.h"
#include "base/joined.h"
#include "base/printable.h"

namespace attune {
namespace {

const TensorInfo& TensorOf(const Program& program, const Port& port) { return program.tensors[port.tensor]; }

// The code of a dimension's size, or nullptr if it is constant.
const SizeCode* CodeOfDimension(const Program& program, const TensorInfo& tensor, size_t dimension) {
  const int32_t number = tensor.open_shape.empty() ? -1 : tensor.open_shape[dimension];
  return number < 0 ? nullptr : &program.numbers[static_cast<size_t>(number)];
}

std::string Named(const Port& input) { return Joined({"input \"", Printable(input.name), "\""}); }

RuntimeStatus Misfit(const Port& input, int64_t size, size_t dimension, const std::string& what) {
  return {ATTUNE_INVALID_ARGUMENT, Joined({Named(input), " has ", size, " in dimension ", dimension, what})};
}

// Binds the sizes of a program, input by input.
class Binder {
 public:
  Binder(const Program& program, std::span<int64_t> sizes) : program_(program), sizes_(sizes) {
    std::ranges::fill(sizes_, -1);  // none is bound
  }

  RuntimeStatus Bind(const Port& input, const attune_shape& shape) {
    const TensorInfo& tensor = TensorOf(program_, input);
    if (shape.rank != tensor.shape.size()) {
      return {ATTUNE_INVALID_ARGUMENT,
              Joined({Named(input), " takes ", tensor.shape.size(), " dimensions, not ", shape.rank})};
    }
    for (size_t i = 0; i < shape.rank; ++i) {
      const SizeCode* code = CodeOfDimension(program_, tensor, i);
      const int64_t given = shape.sizes[i];
      RuntimeStatus status;
      if (code == nullptr) {
        if (given != tensor.shape[i])
          status = Misfit(input, given, i, Joined({", which must be ", tensor.shape[i]}));
      } else if (const std::optional<size_t> size = SizeOf(*code)) {
        status = BindSize(*size, input, given, i);
      }
      if (!status.ok()) return status;
    }
    return {};
  }

  // Checks the dimensions that are computed, once all sizes are bound.
  RuntimeStatus CheckComputed(const Port& input, const attune_shape& shape) const {
    for (size_t i = 0; i < shape.rank; ++i) {
      const SizeCode* code = CodeOfDimension(program_, TensorOf(program_, input), i);
      int64_t wanted = 0;
      // A fault is the artifact's, which is reported when the program is placed.
      if (code == nullptr || Evaluate(*code, sizes_, &wanted) != SizeFault::kNone) continue;
      if (shape.sizes[i] != wanted) {
        return Misfit(input, shape.sizes[i], i,
                      Joined({", which must be ", wanted, " at ", SizesText(program_, sizes_)}));
      }
    }
    return {};
  }

 private:
  RuntimeStatus BindSize(size_t index, const Port& input, int64_t given, size_t dimension) {
    const OpenSize& size = program_.sizes[index];
    const auto misfit = [&](const std::string& what) {
      return Misfit(input, given, dimension, Joined({" (", Printable(size.name), "), which is ", what}));
    };
    if (given < size.min || given > size.max)
      return misfit(Joined({"open from ", size.min, " to ", size.max}));
    if (sizes_[index] >= 0 && sizes_[index] != given)
      return misfit(Joined({sizes_[index], " by a dimension before it"}));
    sizes_[index] = given;
    return {};
  }

  const Program& program_;
  std::span<int64_t> sizes_;
};

std::string DimensionText(const Program& program, const TensorInfo& tensor, size_t dimension) {
  const std::string bound = std::to_string(tensor.shape[dimension]);
  const SizeCode* code = CodeOfDimension(program, tensor, dimension);
  if (code == nullptr) return bound;
  const std::optional<size_t> index = SizeOf(*code);
  if (!index) return Joined({"..", bound});
  const OpenSize& size = program.sizes[*index];
  return Joined({Printable(size.name), ":", size.min, "..", size.max});
}

}  // namespace

bool TakesShapes(const Program& program, std::span<const attune_shape> shapes) {
  return std::ranges::equal(program.inputs, shapes, [&](const Port& input, const attune_shape& shape) {
    return std::ranges::equal(TensorOf(program, input).shape, std::span(shape.sizes, shape.rank));
  });
}

RuntimeStatus BindSizes(const Program& program, std::span<const attune_shape> shapes,
                        std::span<int64_t> sizes) {
  if (shapes.size() != program.inputs.size()) {
    return {ATTUNE_INVALID_ARGUMENT, Joined({"the model has ", program.inputs.size(),
                                             " inputs, and there are ", shapes.size(), " shapes"})};
  }
  Binder binder(program, sizes);
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (RuntimeStatus status = binder.Bind(program.inputs[i], shapes[i]); !status.ok()) return status;
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (RuntimeStatus status = binder.CheckComputed(program.inputs[i], shapes[i]); !status.ok())
      return status;
  }
  return {};
}

std::vector<int64_t> SmallestSizes(const Program& program) {
  std::vector<int64_t> sizes;
  for (const OpenSize& size : program.sizes) sizes.push_back(std::clamp<int64_t>(1, size.min, size.max));
  return sizes;
}

std::string SizesText(const Program& program, std::span<const int64_t> sizes) {
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i) {
    text += Joined({(text.empty() ? "" : " "), Printable(program.sizes[i].name), "=", sizes[i]});
  }
  return text;
}

std::string InputShapesText(const Program& program) {
  std::string text;
  for (const Port& input : program.inputs) {
    text += Joined({(text.empty() ? "" : " "), Printable(input.name), "="});
    const TensorInfo& tensor = TensorOf(program, input);
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      text += (i == 0 ? "" : "x") + DimensionText(program, tensor, i);
  }
  return text;
}

}  // namespace attune
