#include "work/driver/job_sandbox.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/file_descriptor.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A socket that listens.
class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = Loopback(0);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(socket_.get(), 1), 0);
    EXPECT_EQ(getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
    port_ = ntohs(address.sin_port);
  }
  int port() const { return port_; }

 private:
  const FileDescriptor socket_;
  int port_ = 0;
};

bool Connects(const Listener& to) {
  const FileDescriptor own(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(to.port());
  return connect(own.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

TEST(JobSandboxTest, AJobReachesItsFolderAndOnePort) {
  const testing::TemporaryFolder own, others;
  ASSERT_TRUE(WriteFileAtomically(others.path() + "/secret", "x").ok());
  const Listener server, another;
  JobPlace place;
  place.folder = own.path();
  const std::vector<std::function<bool()>> cases = {
      [&] {
        return WriteFileAtomically(own.path() + "/file", "x").ok() && ReadFile(own.path() + "/file", 9).ok();
      },
      [&] { return !ReadFile(others.path() + "/secret", 9).ok(); },
      [&] { return !WriteFileAtomically(others.path() + "/file", "x").ok(); },
      [&] { return truncate((others.path() + "/secret").c_str(), 0) != 0; },
      [] { return !ReadFile("/etc/passwd", 1 << 20).ok(); },
      [] { return std::getenv("HOME") == nullptr; },
      [] { return std::system("/bin/true") == 0; },  // builders are programs, too
      [&] { return Connects(server); },
      [&] { return !Connects(another); },
      [] { return kill(getppid(), 0) != 0; }};
  for (size_t i = 0; i < cases.size(); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      constexpr int kLacksFences = 2;
      if (!ConfineJob(place, server.port()).ok()) _exit(kLacksFences);
      _exit(cases[i]() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "the system lacks fences";
    EXPECT_EQ(status, 0) << "case " << i;
  }
}

}  // namespace
}  // namespace attune
