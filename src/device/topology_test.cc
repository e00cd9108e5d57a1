#include "device/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/testing/temporary_folder.h"
#include "device/device.h"
#include "device/pin.h"

namespace attune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

void WriteText(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text << "\n";
}

void WriteCache(const std::string& processor, int index, int level, const std::string& type,
                const std::string& sharing) {
  const std::string cache = absl::StrCat(processor, "/cache/index", index);
  WriteText(cache + "/level", absl::StrCat(level));
  WriteText(cache + "/type", type);
  WriteText(cache + "/shared_cpu_list", sharing);
}

TEST(ProcessorList, ReadsNumbersAndRanges) {
  EXPECT_THAT(*ParseProcessorList(""), IsEmpty());
  EXPECT_THAT(*ParseProcessorList("3"), ElementsAre(3));
  EXPECT_THAT(*ParseProcessorList("0-2,7,10-11"), ElementsAre(0, 1, 2, 7, 10, 11));
  EXPECT_THAT(*ParseProcessorList("4,1-4"), ElementsAre(1, 2, 3, 4));
  for (const char* bad : {"x", "3-1", "-1", "1-", "1-2-3", "8192", "0-99999999999"})
    EXPECT_FALSE(ParseProcessorList(bad).ok()) << bad;
}

// Two cores of two hyper-threads that share a cache each, like AMD's core complexes, and an offline one.
TEST(Topology, SaysWhatProcessorsShare) {
  const testing::TemporaryFolder folder;
  for (int number = 0; number < 5; ++number) {
    const std::string processor = absl::StrCat(folder.path(), "/cpu", number);
    const int core = number % 2;
    const std::string siblings = absl::StrCat(core, ",", core + 2);
    WriteText(processor + "/topology/thread_siblings_list", siblings);
    WriteCache(processor, 0, 1, "Data", siblings);
    WriteCache(processor, 1, 4, "Instruction", "0-4");
    WriteCache(processor, 3, 3, "Unified", core == 0 ? "0,2,4" : "1,3");
  }
  WriteText(folder / "cpufreq/boost", "1");
  WriteText(folder / "online", "0-3");
  EXPECT_THAT(ReadTopology(folder.path()),
              ElementsAre(Processor{0, 0, 0}, Processor{1, 1, 1}, Processor{2, 0, 0}, Processor{3, 1, 1}));
}

TEST(Topology, WithoutFilesProcessorsAreTakenToShareTheCache) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(ReadTopology(folder / "missing"), IsEmpty());
  EXPECT_THAT(ReadTopology(folder.path()), IsEmpty());
  WriteCache(folder / "cpu0", 3, 3, "Unified", "0");
  WriteText(folder / "cpu2/topology/thread_siblings_list", "nonsense");
  WriteText(folder / "cpu5/cache/index3/level", "3");
  EXPECT_THAT(ReadTopology(folder.path()),
              ElementsAre(Processor{0, 0, 0}, Processor{2, 2, 2}, Processor{5, 5, 2}));
}

TEST(HostDevice, HasTheProcessorsThatMayBeUsed) {
  const auto device = HostDevice();
  if (!device.ok()) GTEST_SKIP() << device.status();
  EXPECT_EQ(device->usable, AllowedProcessors());
  for (const int number : device->usable)
    EXPECT_THAT(device->processors, Contains(Field(&Processor::number, number)));
}

TEST(PinnedTo, KeepsAThreadOnProcessorsForAWhile) {
  const std::vector<int> before = AllowedProcessors();
  ASSERT_FALSE(before.empty());
  {
    const std::vector<int> last = {before.back()};
    const PinnedTo pinned(last);
    EXPECT_TRUE(pinned.is_pinned());
    EXPECT_EQ(AllowedProcessors(), last);
  }
  EXPECT_EQ(AllowedProcessors(), before);
  EXPECT_FALSE(PinnedTo({}).is_pinned());
  EXPECT_EQ(AllowedProcessors(), before);
}

}  // namespace
}  // namespace attune
