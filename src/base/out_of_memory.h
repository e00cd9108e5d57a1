// What a program does when it runs out of memory.
#ifndef ATTUNE_BASE_OUT_OF_MEMORY_H_
#define ATTUNE_BASE_OUT_OF_MEMORY_H_

namespace attune {

// What a person is told, without the program's name.
inline constexpr char kOutOfMemory[] =
    "out of memory: the system gives this process no more; end other programs, or raise its limit";

// From now on, memory that operator new cannot get is std::bad_alloc, whichever allocator the program has,
// and one that nobody catches, in any thread, ends the program with "PROGRAM: out of memory: …" on standard
// error and exit code 1. For main(), once; `program` outlives the process's threads.
void ExplainOutOfMemory(const char* program);

}  // namespace attune

#endif  // ATTUNE_BASE_OUT_OF_MEMORY_H_
