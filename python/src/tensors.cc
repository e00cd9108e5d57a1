#include "tensors.h"

#include <array>
#include <memory>
#include <utility>

namespace attune::python {
namespace {

namespace nb = nanobind;
using compiler::Error;
using compiler::ErrorCode;

struct DTypeRow {
  attune_dtype dtype;
  nb::dlpack::dtype_code code;
  uint8_t bits;
};
// In the order in which an array's type is looked up: what NumPy has for a dtype comes first.
constexpr DTypeRow kDTypes[] = {
    {ATTUNE_F32, nb::dlpack::dtype_code::Float, 32}, {ATTUNE_F64, nb::dlpack::dtype_code::Float, 64},
    {ATTUNE_F16, nb::dlpack::dtype_code::Float, 16}, {ATTUNE_BF16, nb::dlpack::dtype_code::Bfloat, 16},
    {ATTUNE_I8, nb::dlpack::dtype_code::Int, 8},     {ATTUNE_I16, nb::dlpack::dtype_code::Int, 16},
    {ATTUNE_I32, nb::dlpack::dtype_code::Int, 32},   {ATTUNE_I64, nb::dlpack::dtype_code::Int, 64},
    {ATTUNE_U8, nb::dlpack::dtype_code::UInt, 8},    {ATTUNE_U16, nb::dlpack::dtype_code::UInt, 16},
    {ATTUNE_U32, nb::dlpack::dtype_code::UInt, 32},  {ATTUNE_U64, nb::dlpack::dtype_code::UInt, 64},
    {ATTUNE_BOOL, nb::dlpack::dtype_code::Bool, 8},
};

}  // namespace

attune_dtype DTypeOf(const Array& array, const std::string& name) {
  const nb::dlpack::dtype type = array.dtype();
  for (const DTypeRow& row : kDTypes) {
    if (type.code == static_cast<uint8_t>(row.code) && type.bits == row.bits && type.lanes == 1)
      return row.dtype;
  }
  throw Error(ErrorCode::kInvalid,
              "input \"" + name + "\": its elements are of a type that no network takes");
}

compiler::Tensor ToTensor(const Array& array, const std::string& name) {
  compiler::Shape shape;
  for (size_t i = 0; i < array.ndim(); ++i) shape.push_back(static_cast<int64_t>(array.shape(i)));
  return compiler::Tensor(DTypeOf(array, name), std::move(shape),
                          {static_cast<const std::byte*>(array.data()), array.nbytes()});
}

nb::object ToNumpy(void* data, attune_dtype dtype, const compiler::Shape& shape, nb::handle owner,
                   bool is_writable) {
  nb::dlpack::dtype type{.code = static_cast<uint8_t>(nb::dlpack::dtype_code::UInt), .bits = 16, .lanes = 1};
  for (const DTypeRow& row : kDTypes) {
    if (row.dtype == dtype && dtype != ATTUNE_BF16) type = {static_cast<uint8_t>(row.code), row.bits, 1};
  }
  const std::vector<size_t> sizes(shape.begin(), shape.end());
  if (is_writable)
    return nb::cast(nb::ndarray<nb::numpy>(data, sizes.size(), sizes.data(), owner, nullptr, type),
                    nb::rv_policy::reference);
  return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, sizes.size(), sizes.data(), owner, nullptr, type),
                  nb::rv_policy::reference);
}

nb::object OwnedArray(compiler::Tensor tensor) {
  auto kept = std::make_unique<compiler::Tensor>(std::move(tensor));
  const std::span<std::byte> bytes = kept->mutable_bytes();
  const attune_dtype dtype = kept->dtype();
  const compiler::Shape shape = kept->shape();
  const nb::capsule owner(kept.release(),
                          [](void* data) noexcept { delete static_cast<compiler::Tensor*>(data); });
  return ToNumpy(bytes.data(), dtype, shape, owner, /*is_writable=*/true);
}

nb::object ToSharedNumpy(const std::string& name, const Array& array) {
  compiler::Shape shape;
  for (size_t i = 0; i < array.ndim(); ++i) shape.push_back(static_cast<int64_t>(array.shape(i)));
  auto kept = std::make_unique<Array>(array);
  const nb::capsule owner(kept.get(), [](void* data) noexcept { delete static_cast<Array*>(data); });
  kept.release();  // NOLINT(bugprone-unused-return-value): the capsule has it
  return ToNumpy(const_cast<void*>(array.data()), DTypeOf(array, name), shape, owner,
                 /*is_writable=*/false);
}

}  // namespace attune::python
