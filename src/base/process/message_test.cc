#include "base/process/message.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <string>

#include "base/file_descriptor.h"

namespace attune {
namespace {

struct Sockets {
  Sockets() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    a = FileDescriptor(ends[0]);
    b = FileDescriptor(ends[1]);
  }
  FileDescriptor a, b;
};

TEST(Message, Arrives) {
  Sockets sockets;
  for (const std::string& text : {std::string(), std::string("one"), std::string(1000, '\0')}) {
    ASSERT_TRUE(SendMessage(sockets.a.get(), text, kNoDeadline).ok());
    const auto received = ReceiveMessage(sockets.b.get(), kNoDeadline);
    ASSERT_TRUE(received.ok()) << received.status();
    EXPECT_EQ(*received, text);
  }
}

TEST(Message, AReceiverThatDoesNotReadIsNoReasonToWaitForEver) {
  Sockets sockets;
  const std::string large(size_t{32} << 20, 'x');
  EXPECT_TRUE(absl::IsDeadlineExceeded(SendMessage(sockets.a.get(), large, After(0.05))));
}

TEST(Message, NothingHalfAndNonsenseAreErrors) {
  Sockets sockets;
  EXPECT_TRUE(absl::IsDeadlineExceeded(ReceiveMessage(sockets.b.get(), After(0.02)).status()));
  ASSERT_EQ(write(sockets.a.get(), "ATTM\x10\0\0\0four", 12), 12);
  EXPECT_TRUE(absl::IsDeadlineExceeded(ReceiveMessage(sockets.b.get(), After(0.02)).status()));
  ASSERT_EQ(write(sockets.a.get(), "GET / HTTP/1.1\r\n", 16), 16);
  EXPECT_TRUE(absl::IsDataLoss(ReceiveMessage(sockets.b.get(), kNoDeadline).status()));
  sockets.a.Close();
  EXPECT_FALSE(ReceiveMessage(sockets.b.get(), kNoDeadline).ok());
  EXPECT_TRUE(absl::IsUnavailable(ReceiveMessage(sockets.b.get(), kNoDeadline).status()));
  EXPECT_TRUE(absl::IsUnavailable(SendMessage(sockets.b.get(), "x", kNoDeadline)));
}

TEST(Message, AMessageThatIsTooLongIsRefusedBeforeItIsRead) {
  Sockets sockets;
  ASSERT_TRUE(SendMessage(sockets.a.get(), std::string(100, 'x'), kNoDeadline).ok());
  EXPECT_TRUE(absl::IsDataLoss(ReceiveMessage(sockets.b.get(), kNoDeadline, 99).status()));
}

TEST(MessageReader, AfterTheFirstFaultEverythingIsEmpty) {
  MessageWriter out;
  out.Int(5);
  out.Double(NAN);
  out.Int(7);
  MessageReader in(out.text());
  EXPECT_EQ(in.Int(0, 10), 5);
  EXPECT_EQ(in.Double(), 0);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.Int(), 0);
  EXPECT_TRUE(absl::IsDataLoss(in.Finish()));
}

TEST(SendFile, ArrivesOpen) {
  Sockets sockets;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor out(ends[0]), in(ends[1]);
  ASSERT_TRUE(SendFile(sockets.a.get(), in.get(), kNoDeadline).ok());
  const auto received = ReceiveFile(sockets.b.get(), kNoDeadline);
  ASSERT_TRUE(received.ok()) << received.status();
  EXPECT_EQ(write(received->get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(out.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST(SendFile, NothingAndNonsenseAreErrors) {
  Sockets sockets;
  EXPECT_TRUE(absl::IsDeadlineExceeded(ReceiveFile(sockets.b.get(), After(0.02)).status()));
  ASSERT_EQ(write(sockets.a.get(), "x", 1), 1);
  EXPECT_TRUE(absl::IsDataLoss(ReceiveFile(sockets.b.get(), kNoDeadline).status()));
  sockets.a.Close();
  EXPECT_TRUE(absl::IsUnavailable(ReceiveFile(sockets.b.get(), kNoDeadline).status()));
}

}  // namespace
}  // namespace attune
