// Generated code, mapped executable in this process: for tests and for the tuner. The runtime has its own.
#ifndef ATTUNE_CODEGEN_HOST_CODE_H_
#define ATTUNE_CODEGEN_HOST_CODE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "codegen/codegen.h"

namespace attune {

// Kernel ABI v1, see codegen.h.
using PhaseFunction = int32_t (*)(void* const* buffers, int64_t* dims, void* scratch, int32_t part,
                                  int32_t parts);

// Owns the mapping; its functions die with it. Thread safe once made.
class HostCode {
 public:
  // Fails where the system refuses executable memory. The code must be for this processor.
  static absl::StatusOr<HostCode> Map(const LinkedCode& code);

  HostCode(HostCode&& other) noexcept;
  HostCode& operator=(HostCode&& other) noexcept;
  ~HostCode();

  // The phase of that symbol, or null.
  PhaseFunction Find(const std::string& symbol) const;

 private:
  HostCode() = default;

  void* memory_ = nullptr;
  size_t size_ = 0;
  std::map<std::string, int64_t> symbols_;
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_HOST_CODE_H_
