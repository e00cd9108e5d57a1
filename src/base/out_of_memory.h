// Ends a program with a clear message when it runs out of memory.
#ifndef ATTUNE_BASE_OUT_OF_MEMORY_H_
#define ATTUNE_BASE_OUT_OF_MEMORY_H_

namespace attune {

// The message for the user, without the program's name.
inline constexpr char kOutOfMemory[] =
    "out of memory: the system gives this process no more; end other programs, or raise its limit";

// From now on, operator new throws std::bad_alloc when it cannot get memory, whichever allocator the program
// uses. If it is not caught, in any thread, the program prints "PROGRAM: out of memory: …" to standard error
// and exits with code 1. For main(), once; `program` must outlive the process's threads.
void ExplainOutOfMemory(const char* program);

}  // namespace attune

#endif  // ATTUNE_BASE_OUT_OF_MEMORY_H_
