#include "device/contention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

class ProcessWaitsTest : public ::testing::Test {
 protected:
  // A thread that has waited for `ms` milliseconds in `turns` turns, and has started these processes.
  void SetThread(const std::string& process, const std::string& thread, int ms, int slices,
                 const std::string& children = "") {
    const std::string path = folder_.path() + "/" + process + "/task/" + thread;
    std::filesystem::create_directories(path);
    ASSERT_TRUE(WriteFileAtomically(path + "/schedstat", "7 " + std::to_string(ms * 1'000'000) + " " +
                                                             std::to_string(slices) + "\n")
                    .ok());
    ASSERT_TRUE(WriteFileAtomically(path + "/children", children).ok());
  }
  double Waited(ProcessWaits& waits) {
    waits.Look();
    return waits.Take();
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(ProcessWaitsTest, CountsTheThreadsOfAllDescendants) {
  SetThread("1", "1", 900, 1, "10 ");
  SetThread("10", "10", 500, 1, "11");
  SetThread("11", "11", 0, 0);
  ProcessWaits waits(1, folder_.path());
  EXPECT_EQ(Waited(waits), 0);  // what was before does not count
  SetThread("1", "1", 2000, 2, "10 ");
  SetThread("10", "10", 600, 1, "11");
  SetThread("11", "11", 200, 0);
  SetThread("11", "12", 50, 0);
  EXPECT_THAT(Waited(waits), DoubleNear(0.35, 1e-9));
  std::filesystem::remove_all(folder_.path() + "/11");
  EXPECT_EQ(Waited(waits), 0);
}

TEST_F(ProcessWaitsTest, WakingUpIsNoDisturbance) {
  SetThread("1", "1", 0, 0, "10");
  SetThread("10", "10", 0, 0);
  ProcessWaits waits(1, folder_.path());
  SetThread("10", "10", 20, 1000);  // 20 µs each
  EXPECT_EQ(Waited(waits), 0);
  SetThread("10", "10", 320, 1100);  // 3 ms each
  EXPECT_GT(Waited(waits), 0.29);
}

TEST_F(ProcessWaitsTest, ASystemThatTellsNothingHasNoWaits) {
  ProcessWaits waits(1, folder_.path() + "/nowhere");
  EXPECT_EQ(Waited(waits), 0);
}

TEST(ProcessorUseTest, IsThatOfTheDevicesProcessorsAlone) {
  const testing::TemporaryFolder folder;
  const std::string stat = folder.path() + "/stat";
  const auto set = [&](int used, int idle) {
    ASSERT_TRUE(WriteFileAtomically(stat, "cpu  99 0 0 99 0 0 0 0 0 0\ncpu0 " + std::to_string(used) +
                                              " 0 0 " + std::to_string(idle) +
                                              " 5 0 0 0 0 0\ncpu1 900 0 0 0 0 0 0 0 0 0\nintr 5\n")
                    .ok());
  };
  set(10, 100);
  const int processors[] = {0};
  ProcessorUse use(processors, stat);
  EXPECT_EQ(use.Take(), std::nullopt);
  set(40, 170);
  EXPECT_THAT(use.Take(), Optional(DoubleNear(0.3, 1e-9)));
  EXPECT_EQ(use.Take(), std::nullopt);  // no time has passed
  set(140, 170);
  EXPECT_THAT(use.Take(), Optional(DoubleNear(1, 1e-9)));
  use.Forget();
  set(150, 180);
  EXPECT_EQ(use.Take(), std::nullopt);
  EXPECT_EQ(ProcessorUse(processors, folder.path() + "/nowhere").Take(), std::nullopt);
}

}  // namespace
}  // namespace attune
