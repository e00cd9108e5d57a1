// Whether a device is still as fast as it was.
//
// Problem: a device that throttles, shares its memory with a new neighbour or has lost a fan measures other
// times than before, and what it measures is compared with what it measured then. One calibration tells
// little, since any machine is slower for seconds at a time. Idea: a device is compared with the median of
// its own calibrations. It has drifted if two calibrations in a row differ from that median in the same rate
// and direction; or if the median itself has moved away from the first ones, as it does on a device that
// becomes slower bit by bit. Price: a device is not judged before it has three calibrations to be compared
// with.
#ifndef ATTUNE_FLEET_CALIBRATION_DRIFT_H_
#define ATTUNE_FLEET_CALIBRATION_DRIFT_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "device/peaks.h"

namespace attune {

// A rate that differs by more than this share of the usual one has changed. Peaks of a device at rest differ
// by some 3 % from one calibration to the next, and a device that is 10 % slower spoils what tuning compares.
inline constexpr double kDriftTolerance = 0.10;
// The fewest calibrations to compare with: the median of three is right even if one is wrong.
inline constexpr size_t kFewestToCompare = 3;
// The baseline is the median of so many first calibrations, and a device's usual rates are the median of so
// many latest ones: of more, a device would need days to show that it becomes slower bit by bit.
inline constexpr size_t kBaselineCalibrations = 5, kUsualCalibrations = 9;

// One of the rates of Peaks.
struct PeakRate {
  const char* name = "";  // for people: "f32 multiply-adds"
  const char* unit = "";
  double Peaks::* rate = nullptr;
};
std::span<const PeakRate> PeakRates();

// The medians of the rates, one by one. All 0 if there are none.
Peaks MedianPeaks(std::span<const Peaks> peaks);

struct Drift {
  const PeakRate* rate = nullptr;
  double usual = 0, now = 0;  // in the rate's unit

  // For people: "31 % slower than usual at f32 multiply-adds (12.4 instead of 18.0 Gop/s per core)".
  std::string Text() const;
};

// `calibrations`: of one device since it was last declared sound, oldest first; those between the first
// kBaselineCalibrations and the last kUsualCalibrations + 2 may be missing. Of several rates that have
// changed, the one that has changed most. Pure.
std::optional<Drift> FindDrift(std::span<const Peaks> calibrations);

}  // namespace attune

#endif  // ATTUNE_FLEET_CALIBRATION_DRIFT_H_
