// Runs a program, and ends all that it has started with it.
//
// Problem: what a program starts may leave its process group and its session (setsid), and is adopted by
// process 1 when its parent ends, so that the program's caller does not know it. Idea: a guard, a process of
// ours, stands between. Where the system allows it, the program and all that it starts live in a PID
// namespace of their own, which the kernel ends as a whole when its first process ends. Elsewhere the guard
// adopts what the program leaves (PR_SET_CHILD_SUBREAPER), and kills its children until it has none. Price:
// two more processes for each program; a program sees process numbers of its own; and if this user has no
// right to make namespaces but within a user namespace, programs cannot gain rights, by sudo for example.
//
// The second way is none against a program that kills the guard, which it sees.
#ifndef ATTUNE_BASE_PROCESS_PROGRAM_GUARD_H_
#define ATTUNE_BASE_PROCESS_PROGRAM_GUARD_H_

#include <string>

#include "base/process/launch.h"

namespace attune {

// How programs are kept together.
enum class ProgramContainment {
  kBest,       // by a PID namespace if the system allows it
  kSubreaper,  // by adoption, whatever the system allows
};

class ProgramGuard {
 public:
  // `launch` points to memory of the caller, which must stay until the program is executed.
  explicit ProgramGuard(const ProgramLaunch& launch,
                        ProgramContainment containment = ProgramContainment::kBest);

  // The work of the child of fork(), which becomes the guard. It ends as the program ends, once nothing of
  // the program is left. SIGTERM, and the end of the thread that has called fork(), end all at once; then the
  // guard ends as if it were killed. Makes only system calls.
  [[noreturn]] void Run() const;

  // Whether the system gives programs a PID namespace, with a /proc of its own. Forks a process to try it.
  static bool HasNamespaces();

 private:
  // Moves the children of this process that come next into namespaces of their own.
  bool LeaveNamespaces() const;
  bool TryNamespaces() const;
  void WatchParent() const;
  [[noreturn]] void RunAlone() const;
  [[noreturn]] void RunAdopting() const;

  const ProgramLaunch launch_;
  const ProgramContainment containment_;
  // The maps of the user and of the group for a namespace: the same numbers inside as outside.
  const std::string users_, groups_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_PROGRAM_GUARD_H_
