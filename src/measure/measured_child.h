// The protocol between a measuring process and its children, and the children's side of it
// (measured_process.h).
#ifndef ATTUNE_MEASURE_MEASURED_CHILD_H_
#define ATTUNE_MEASURE_MEASURED_CHILD_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "measure/measured_program.h"

namespace attune {

struct ChildCommand {
  enum What : int32_t { kPoison, kMove, kRun, kProfile, kFetch };
  uint64_t turn = 0;  // unpredictable; the answer repeats it
  int32_t what = kRun;
  int64_t count = 0;
};

struct ChildReply {
  enum What : int32_t {
    kSetUp,  // `value` is a SetUpResult
    kDone,
    kFailed,       // an execution returned `value`
    kOverwritten,  // a write beside the buffer `value`
    kCrashed,      // by the signal `value`
  };
  uint64_t turn = 0;
  int32_t what = kDone;
  int32_t value = 0;
  // kCrashed: the buffer in or beside which it crashed, and the offset; buffer -1 if that is not known.
  int32_t buffer = -1;
  int32_t is_stack = 0;
  int64_t offset = 0;
  uint64_t address = 0;
  int64_t system_call = -1;
};

// The main function of a child. Reads from `commands`, writes to `replies`, puts results into `shared`, and
// runs on `processors` (empty: any).
[[noreturn]] void RunMeasuredChild(MeasuredProgram& program, int commands, int replies, std::byte* shared,
                                   std::span<const int> processors);

}  // namespace attune

#endif  // ATTUNE_MEASURE_MEASURED_CHILD_H_
