// An agent can say which fences its machine lacks.
#include "fleet/host/sandbox_lacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>

#include "base/process/namespaces.h"

namespace attune {
namespace {

using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// The lacks that a process sees after `change`, in a line each.
std::string LacksAfter(const std::function<void()>& change) {
  std::array<int, 2> ends = {};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    change();
    for (const std::string& lack : SandboxLacks()) {
      const std::string line = lack + "\n";
      if (write(ends[1], line.data(), line.size()) < 0) _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string lines;
  char letter = 0;
  while (read(ends[0], &letter, 1) == 1) lines += letter;
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return lines;
}

TEST(SandboxLacks, AreSentences) { EXPECT_THAT(SandboxLacks(), Each(EndsWith("."))); }

TEST(SandboxLacks, AreTheNamespacesThatAreNotGiven) {
  const std::string lacks = LacksAfter([] {
    // A user namespace has limits of its own, which its owner may set.
    if (EnterNamespaces().ok()) {
      std::ofstream("/proc/sys/user/max_user_namespaces") << 0;
    }
    GiveUpCapabilities();
  });
  for (const char* part : {"no namespaces", "no PID namespaces", "no mounts"})
    EXPECT_THAT(lacks, HasSubstr(part));
  EXPECT_THAT(lacks, Not(HasSubstr("filters")));
}

}  // namespace
}  // namespace attune
