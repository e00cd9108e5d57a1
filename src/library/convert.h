// Between the types of the public interface and Attune's own.
#ifndef ATTUNE_LIBRARY_CONVERT_H_
#define ATTUNE_LIBRARY_CONVERT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/tensors.h"
#include "attune/compiler.hpp"
#include "base/progress.h"

namespace attune::compiler {

// Makes messages name options as programs in C++ do, unless the process has another face. Each function that
// programs call first calls it.
void NameFace();

// Throws the error, unless the status is ok.
void Check(const absl::Status& status);
template <typename T>
T Value(absl::StatusOr<T> value) {
  Check(value.status());
  return *std::move(value);
}

// The same tensors. What is given is copied, and what is returned is shared.
struct TensorAccess {
  static attune::Tensor ToOwn(const Tensor& tensor);
  static Tensor FromOwn(const attune::Tensor& tensor);
};
std::vector<attune::NamedTensor> ToOwn(const NamedTensors& tensors);
NamedTensors FromOwn(const std::vector<attune::NamedTensor>& tensors);

InputInfo FromOwn(const InputDeclaration& input);

// Follows and ends a call as the caller's Control wants it, for as long as it lives.
class Following : public ProgressSink {
 public:
  explicit Following(const Control& control)
      : control_(control), on_stop_(control.stop, [this] { cancellation_.Cancel(); }) {}

  WorkControl work() { return {.cancellation = &cancellation_, .progress = this}; }
  void Report(std::string_view what, int64_t done, int64_t total) override {
    if (control_.progress) control_.progress(what, done, total);
  }

 private:
  const Control& control_;
  Cancellation cancellation_;
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace attune::compiler

#endif  // ATTUNE_LIBRARY_CONVERT_H_
