// Arrays of Python's buffer and DLPack protocols as tensors, and tensors as NumPy arrays.
#ifndef ATTUNE_PYTHON_TENSORS_H_
#define ATTUNE_PYTHON_TENSORS_H_

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

#include "attune/compiler.hpp"

namespace attune::python {

// An array in memory of this process, dense and row-major; nanobind copies others.
using Array = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

// Throws Error if no dtype of Attune is the array's. `name` is the input's.
attune_dtype DTypeOf(const Array& array, const std::string& name);
// A copy.
compiler::Tensor ToTensor(const Array& array, const std::string& name);

// A NumPy array in the memory at `data`, which `owner` keeps alive. bf16 is uint16, since NumPy has no such
// type.
nanobind::object ToNumpy(void* data, attune_dtype dtype, const compiler::Shape& shape, nanobind::handle owner,
                         bool is_writable);

// A NumPy array in the memory of `array`, for what NumPy itself does not take: bf16 is uint16. `name` is the
// input's.
nanobind::object ToSharedNumpy(const std::string& name, const Array& array);

// A NumPy array that has the tensor's memory.
nanobind::object OwnedArray(compiler::Tensor tensor);

}  // namespace attune::python

#endif  // ATTUNE_PYTHON_TENSORS_H_
