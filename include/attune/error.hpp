// The exception that functions of attune/compiler.hpp throw.
#ifndef ATTUNE_ERROR_HPP_
#define ATTUNE_ERROR_HPP_

#if __cplusplus < 202002L
#error "Attune is used from C++20 or newer (-std=c++20), or from C by attune/compiler.h."
#endif

#include <stdexcept>
#include <string>

namespace attune::compiler {

enum class ErrorCode {
  kInvalid,      // an argument, a file or a damaged model
  kNotFound,     // a file, an input, a device
  kUnsupported,  // the model needs what Attune lacks: a line "not supported: …" for each operator
  kCancelled,
  kNoResources,  // memory, threads, disk
  kUnavailable,  // may work later: another process holds the records
  kInternal,     // a bug of Attune
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, bool is_missing_file = false)
      : std::runtime_error(message), code_(code), is_missing_file_(is_missing_file) {}
  ErrorCode code() const { return code_; }
  // Whether what is not found is a file.
  bool is_missing_file() const { return is_missing_file_; }

 private:
  ErrorCode code_;
  bool is_missing_file_;
};

}  // namespace attune::compiler

#endif  // ATTUNE_ERROR_HPP_
