// The tuner's records, for the commands and for other programs: list, find the best, exchange and prune them.
//
// The database's own interface is fit for that as it stands, so this header gathers it rather than wrap it,
// and adds what takes the rest of the compiler to know: which strategies there are, and which device this is.
#ifndef ATTUNE_API_RECORDS_H_
#define ATTUNE_API_RECORDS_H_

#include "target/target.h"
#include "tune/database.h"
#include "tune/exchange.h"
#include "tune/record.h"
#include "tune/record_json.h"

namespace attune {

// Of this program. Records of other versions are priors.
StrategyVersions CurrentStrategyVersions();

}  // namespace attune

#endif  // ATTUNE_API_RECORDS_H_
