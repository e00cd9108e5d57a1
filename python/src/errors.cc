#include <exception>

#include "attune/attune.hpp"
#include "attune/compiler.hpp"
#include "bindings.h"

namespace attune::python {
namespace {

namespace nb = nanobind;

// The class of attune.errors for a code, by its name there.
const char* ClassOf(compiler::ErrorCode code, bool is_missing_file) {
  switch (code) {
    case compiler::ErrorCode::kInvalid:
      return "InvalidError";
    case compiler::ErrorCode::kNotFound:
      return is_missing_file ? "MissingFileError" : "NotFoundError";
    case compiler::ErrorCode::kUnsupported:
      return "UnsupportedError";
    case compiler::ErrorCode::kCancelled:
      return "CancelledError";
    case compiler::ErrorCode::kNoResources:
      return "ResourceError";
    case compiler::ErrorCode::kUnavailable:
      return "UnavailableError";
    case compiler::ErrorCode::kInternal:
      break;
  }
  return "InternalError";
}

compiler::ErrorCode CodeOf(attune_code code) {
  switch (code) {
    case ATTUNE_CANNOT_READ:
      return compiler::ErrorCode::kNotFound;
    case ATTUNE_OUT_OF_MEMORY:
      return compiler::ErrorCode::kNoResources;
    case ATTUNE_KERNEL_FAILED:
      return compiler::ErrorCode::kInternal;
    default:
      return compiler::ErrorCode::kInvalid;
  }
}

void Translate(const std::exception_ptr& error, void* /*payload*/) {
  const auto raise = [](compiler::ErrorCode code, const char* text, bool is_missing_file) {
    PyErr_SetString(nb::module_::import_("attune.errors").attr(ClassOf(code, is_missing_file)).ptr(), text);
  };
  try {
    std::rethrow_exception(error);
  } catch (const compiler::Error& own) {
    raise(own.code(), own.what(), own.is_missing_file());
  } catch (const runtime::Error& own) {
    raise(CodeOf(own.code()), own.what(), /*is_missing_file=*/false);
  }
}

}  // namespace

void BindErrors() { nb::register_exception_translator(Translate); }

}  // namespace attune::python
