// The sensors of this machine from which a program of this user can read what its work takes.
#ifndef ATTUNE_DEVICE_SENSORS_H_
#define ATTUNE_DEVICE_SENSORS_H_

#include <string>
#include <vector>

namespace attune {

// The names of those that can be read now, in alphabetical order, from files as in /sys:
//
//   "energy package-0"          a RAPL counter (powercap); most systems let the superuser alone read them
//   "frequency"                 of the processors (cpufreq)
//   "temperature x86_pkg_temp"  a thermal zone
//
// Sensors of one name, such as the cores' energy in two packages, are named once. Empty if there are no
// files.
std::vector<std::string> ReadableSensors(const std::string& folder);

}  // namespace attune

#endif  // ATTUNE_DEVICE_SENSORS_H_
