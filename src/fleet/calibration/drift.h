// Whether a device is still as fast as it was.
//
// Problem: a device that throttles, shares its memory with a new neighbour or has lost a fan measures other
// times than before, and what it measures is compared with what it measured then. One calibration tells
// little, since any machine is slower for seconds at a time. Idea: a device is compared with the median of
// its own calibrations. It has drifted if two calibrations in a row differ from that median in the same rate
// and direction; or if the median itself has moved away from that of the first ones, as it does on a device
// that becomes slower bit by bit. A device whose rates scatter by themselves may differ by more. Price: a
// device is not judged by its first calibrations, and one that is never at rest is judged mildly.
#ifndef ATTUNE_FLEET_CALIBRATION_DRIFT_H_
#define ATTUNE_FLEET_CALIBRATION_DRIFT_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "device/peaks.h"

namespace attune {

// A rate that differs by more than this share of the usual one has changed. The rates of a device at rest
// differ by some 3 % from one calibration to the next; a lost fan or a lower clock costs more than 10 %.
inline constexpr double kDriftTolerance = 0.10;
// The usual rates have a range, and the change counts from its end. They are few, so that their range is
// narrower than it would be after more: it is wider by this share on either side. The memory of a virtual
// machine with busy neighbours was seen to differ by 40 % within seconds.
inline constexpr double kDriftScatter = 0.5;
// The baseline is the median of this many first calibrations, which is right even if two of them are wrong.
// Nothing is judged before it is there. A device's current rates are the median of this many latest ones:
// with more, a device would need days to show that it becomes slower bit by bit.
inline constexpr size_t kBaselineCalibrations = 5, kUsualCalibrations = 9;

// One of the rates of Peaks.
struct PeakRate {
  const char* name = "";  // for people: "f32"
  const char* unit = "";  // of one core's rate
  double Peaks::* rate = nullptr;
};
std::span<const PeakRate> PeakRates();

// The medians of the rates, one by one. All 0 if there are none.
Peaks MedianPeaks(std::span<const Peaks> peaks);

struct Drift {
  const PeakRate* rate = nullptr;
  double usual = 0, now = 0;  // in the rate's unit

  // For people: "31 % slower than usual at f32 (12.4 instead of 18.0 Gop/s per core)".
  std::string Text() const;
};

// `calibrations`: of one device since it was last declared sound, oldest first; those between the first
// kBaselineCalibrations and the last kUsualCalibrations + 2 may be missing. If several rates
// have changed, the result is the one that has changed most. Pure.
std::optional<Drift> FindDrift(std::span<const Peaks> calibrations);

}  // namespace attune

#endif  // ATTUNE_FLEET_CALIBRATION_DRIFT_H_
