// Answers that say: try again later.
#ifndef ATTUNE_HTTP_CLIENT_RETRY_H_
#define ATTUNE_HTTP_CLIENT_RETRY_H_

#include "base/clock.h"
#include "http/client/call.h"

namespace attune {

// Whether the same call may be answered otherwise later: 429, 502, 503 and 504.
bool IsPassing(const HttpAnswer& answer);

// Seconds that the answer asks for by Retry-After, at most five minutes; 0: it asks for none.
double RetryAfter(const HttpAnswer& answer, const Clock& clock = SystemClock());

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_RETRY_H_
