// What the runner and its children say to each other, and the children's side (kernel_process.h).
#ifndef ATTUNE_MEASURE_KERNEL_CHILD_H_
#define ATTUNE_MEASURE_KERNEL_CHILD_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/kernel_process.h"

namespace attune {

struct KernelCommand {
  enum What : int32_t { kPoison, kMove, kRun, kFetch };
  uint64_t turn = 0;  // unpredictable, and in the answer again
  int32_t what = kRun;
  int64_t count = 0;
};

struct KernelReply {
  enum What : int32_t {
    kReady,
    kDone,
    kFailed,       // the kernel returned `value`
    kOverwritten,  // beside the buffer `value`
    kNoMemory,     // for what is to be set up
    kNoThreads,    // likewise
    kNoFiles,      // open at once
    kNoSandbox,
    kCrashed,  // by the signal `value`
  };
  uint64_t turn = 0;
  int32_t what = kDone;
  int32_t value = 0;
  // kCrashed: where in or beside which buffer, if that is known, else buffer -1.
  int32_t buffer = -1;
  int32_t is_stack = 0;
  int64_t offset = 0;
  uint64_t address = 0;
  int64_t system_call = -1;
};

// The life of a child: `commands` to read from, `replies` to write to, and memory for the dims and outputs
// that it shares with the runner, `places` being the outputs' offsets in it by buffer.
[[noreturn]] void RunKernelChild(const KernelSetup& setup, pid_t runner, int commands, int replies,
                                 std::byte* shared, const std::vector<size_t>& places);

}  // namespace attune

#endif  // ATTUNE_MEASURE_KERNEL_CHILD_H_
