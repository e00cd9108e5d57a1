#include "tune/task/codec.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <string>

#include "base/process/message.h"
#include "base/process/worker_process.h"
#include "base/random.h"
#include "tune/task/tasks_for_test.h"

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
    ASSERT_TRUE(SendMessage(sockets.a.get(), text, After(1)).ok());
    const auto received = ReceiveMessage(sockets.b.get(), After(1));
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
  EXPECT_TRUE(absl::IsDataLoss(ReceiveMessage(sockets.b.get(), After(1)).status()));
  sockets.a.Close();
  EXPECT_FALSE(ReceiveMessage(sockets.b.get(), After(1)).ok());
  EXPECT_TRUE(absl::IsUnavailable(ReceiveMessage(sockets.b.get(), After(1)).status()));
  EXPECT_TRUE(absl::IsUnavailable(SendMessage(sockets.b.get(), "x", After(1))));
}

TEST(Message, AMessageThatIsTooLongIsRefusedBeforeItIsRead) {
  Sockets sockets;
  ASSERT_TRUE(SendMessage(sockets.a.get(), std::string(100, 'x'), After(1)).ok());
  EXPECT_TRUE(absl::IsDataLoss(ReceiveMessage(sockets.b.get(), After(1), 99).status()));
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

BuiltKernel SampleKernel() {
  BuiltKernel kernel;
  kernel.code.bytes = std::string(100, '\x90');
  kernel.code.phases = {{0, true}, {16, false}};
  kernel.code.scratch_bytes = 128;
  kernel.code.params = {{ParamKind::kInput, 1, DType::kBF16, 64},
                        {ParamKind::kPrepared, 0, DType::kF32, 256},
                        {ParamKind::kOutput, 0, DType::kI8, 10},
                        {ParamKind::kWorkspace, 0, DType::kF32, 4096}};
  kernel.preparations = {kernel.code};
  kernel.preparations[0].params.resize(1);
  kernel.code_digest = "abc";
  kernel.num_dims = 2;
  kernel.spreads_rounding = true;
  return kernel;
}

TEST(Codec, BuildsComeBackAsTheyWere) {
  BuildResult result;
  result.outcome = TrialOutcome::kOk;
  result.seconds = 0.25;
  result.kernel = SampleKernel();
  const std::string text = EncodeBuildResult(result);
  const auto decoded = DecodeBuildResult(text);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(EncodeBuildResult(*decoded), text);
  EXPECT_EQ(decoded->kernel.code.params[2].dtype, DType::kI8);
  EXPECT_TRUE(decoded->kernel.code.phases[0].parallel);
}

TEST(Codec, RequestsComeBackAsTheyWere) {
  const TuningTask task = MakeTask(kConvTask, {1, 2});
  const BuildRequest request = {&task, {"conv_direct", {{"tile_c", 4}}}};
  const auto decoded = DecodeBuildRequest(EncodeBuildRequest(request));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(CanonicalText(*decoded->task.region), CanonicalText(*task.region));
  EXPECT_EQ(decoded->task.constant_inputs, task.constant_inputs);
  EXPECT_EQ(decoded->candidate, request.candidate);

  // Every field decides about the code.
  for (const std::string& name : TargetNames()) {
    for (const Target& target : {*TargetByName(name), WithModelledTiles(*TargetByName(name))}) {
      const auto decoded_target = DecodeTarget(EncodeTarget(target));
      ASSERT_TRUE(decoded_target.ok()) << decoded_target.status();
      EXPECT_TRUE(*decoded_target == target) << name;
    }
  }

  const BuiltKernel kernel = SampleKernel();
  const Incumbent incumbent = {&kernel, 1e-3};
  const std::string text = EncodeMeasureRequest(kernel, {}, &incumbent);
  const auto measure = DecodeMeasureRequest(text);
  ASSERT_TRUE(measure.ok()) << measure.status();
  ASSERT_TRUE(measure->incumbent.has_value());
  const Incumbent again = {&*measure->incumbent, measure->incumbent_seconds};
  EXPECT_EQ(EncodeMeasureRequest(measure->kernel, measure->options, &again), text);
}

TEST(Codec, DamagedMessagesAreErrorsOrOtherMessages) {
  BuildResult result;
  result.outcome = TrialOutcome::kOk;
  result.kernel = SampleKernel();
  const std::string good = EncodeBuildResult(result);
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(DecodeBuildResult(std::string_view(good).substr(0, length)).ok());
  EXPECT_FALSE(DecodeBuildResult(good + "x").ok());
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    bad[static_cast<size_t>(random.Integer(0, static_cast<int64_t>(bad.size()) - 1))] =
        static_cast<char>(random.Next());
    const auto decoded = DecodeBuildResult(bad);
    if (!decoded.ok()) continue;
    for (const KernelCode::Phase& phase : decoded->kernel.code.phases)
      EXPECT_LT(phase.offset, static_cast<int64_t>(decoded->kernel.code.bytes.size()));
    DecodeMeasureRequest(bad).status().IgnoreError();
    DecodeBuildRequest(bad).status().IgnoreError();
    DecodeMeasurement(bad).status().IgnoreError();
    DecodeTarget(bad).status().IgnoreError();
  }
}

}  // namespace
}  // namespace attune
