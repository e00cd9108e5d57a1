// The way from fork() to a program that does not outlive the thread that has started it.
#ifndef ATTUNE_BASE_PROCESS_LAUNCH_H_
#define ATTUNE_BASE_PROCESS_LAUNCH_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace attune {

// Pointers to the texts, and a null pointer after them, as exec and its like take arguments.
std::vector<char*> ArgumentPointers(std::vector<std::string>& arguments);

// Everything is the caller's, and must be there until the child has executed the program.
struct ProgramLaunch {
  const char* program;
  char* const* arguments;  // as ArgumentPointers()
  const char* folder;      // where the program runs; empty: where this process does
  int input, output, errors;
  int failure;   // takes the errno if the program cannot be executed; closes when it is
  pid_t parent;  // this process

  // The work of the child of fork(): becomes the program, with our environment, in a process group of its
  // own, and with no other open files. The kernel kills the program when the thread that has called fork()
  // ends. Makes only system calls, since other threads of the parent may hold any lock.
  [[noreturn]] void Execute() const;

  // The two halves of Execute(), for a process that has others between it and the program. The first moves
  // the files to the numbers 0 to kFailureFile, and closes all others.
  void PlaceFiles() const;
  // `before`: the parent, as the child sees it.
  [[noreturn]] void ExecuteAfter(pid_t before) const;
  static constexpr int kFailureFile = 3;
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_LAUNCH_H_
