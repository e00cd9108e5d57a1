// For tests: sets another ATTUNE_HOST_CPU for a while.
#ifndef ATTUNE_DEVICE_HOST_CPU_FOR_TEST_H_
#define ATTUNE_DEVICE_HOST_CPU_FOR_TEST_H_

#include <cstdlib>
#include <optional>
#include <string>

#include "target/features.h"

namespace attune {

// Sets the variable, or unsets it if `name` is nullptr, and restores the old value at the end. No other
// thread may read the environment meanwhile.
class ScopedHostCpu {
 public:
  explicit ScopedHostCpu(const char* name) {
    if (const char* before = std::getenv(kHostCpuVariable)) before_ = before;
    Set(name);
  }
  ~ScopedHostCpu() { Set(before_.has_value() ? before_->c_str() : nullptr); }
  ScopedHostCpu(const ScopedHostCpu&) = delete;
  ScopedHostCpu& operator=(const ScopedHostCpu&) = delete;

 private:
  static void Set(const char* name) {
    if (name == nullptr) {
      unsetenv(kHostCpuVariable);
    } else {
      setenv(kHostCpuVariable, name, 1);
    }
  }

  std::optional<std::string> before_;
};

}  // namespace attune

#endif  // ATTUNE_DEVICE_HOST_CPU_FOR_TEST_H_
