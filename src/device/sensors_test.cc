#include "device/sensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SensorsTest : public ::testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  std::vector<std::string> Sensors() const { return ReadableSensors(folder_.path()); }

  const testing::TemporaryFolder folder_;
};

TEST_F(SensorsTest, AMachineMayHaveNone) {
  EXPECT_THAT(Sensors(), IsEmpty());
  std::filesystem::create_directories(folder_ / "class/powercap/intel-rapl");
  EXPECT_THAT(Sensors(), IsEmpty());
}

TEST_F(SensorsTest, EachKindIsFoundByItsFiles) {
  for (const char* package : {"0", "1"}) {
    const std::string zone = std::string("class/powercap/intel-rapl:") + package;
    Write(zone + "/name", std::string("package-") + package);
    Write(zone + "/energy_uj", "123456789012");
    Write(zone + ":0/name", "core");
    Write(zone + ":0/energy_uj", "17");
  }
  Write("class/powercap/intel-rapl/enabled", "1");
  Write("class/powercap/dtpm/name", "another kind");
  for (const char* policy : {"policy0", "policy4"})
    Write(std::string("devices/system/cpu/cpufreq/") + policy + "/scaling_cur_freq", "2400000");
  Write("class/thermal/thermal_zone0/type", "x86_pkg_temp");
  Write("class/thermal/thermal_zone0/temp", "-1500");
  Write("class/thermal/cooling_device0/type", "Fan");
  EXPECT_THAT(Sensors(), ElementsAre("energy core", "energy package-0", "energy package-1", "frequency",
                                     "temperature x86_pkg_temp"));
}

TEST_F(SensorsTest, WhatGivesNoNumberIsLeftOut) {
  Write("class/powercap/intel-rapl:0/name", "package-0");  // the counter cannot be read
  Write("devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "<unknown>");
  Write("class/thermal/thermal_zone0/type", "acpitz");
  Write("class/thermal/thermal_zone0/temp", "");
  EXPECT_THAT(Sensors(), IsEmpty());
}

}  // namespace
}  // namespace attune
