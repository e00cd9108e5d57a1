// The peak rates that a device can have, by its processor's kind.
#ifndef ATTUNE_SERVICE_AGREEMENT_DEVICE_RATES_H_
#define ATTUNE_SERVICE_AGREEMENT_DEVICE_RATES_H_

#include "device/peaks.h"
#include "target/target.h"

namespace attune {

// Returns the rates of the fastest processor of the kind that there can be: no device is believed to have
// higher ones.
Peaks HighestPeaks(const Target& target);

// Returns the rates that the processor's kind lets expect, until some were measured.
Peaks ExpectedPeaks(const Target& target);

// Returns the rates that a device may have whose best measured ones these are: on a busy machine, all
// measurements may have been disturbed.
Peaks WithMargin(Peaks measured);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_DEVICE_RATES_H_
