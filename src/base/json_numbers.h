// Numbers in JSON that a stranger has written.
//
// nlohmann's own conversions cast without a check: 2^63 becomes a negative integer, and 1e300 any.
#ifndef ATTUNE_BASE_JSON_NUMBERS_H_
#define ATTUNE_BASE_JSON_NUMBERS_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "nlohmann/json.hpp"

namespace attune {

// Up to it, everybody who reads JSON tells integers apart (https://www.rfc-editor.org/rfc/rfc8259#section-6).
inline constexpr int64_t kMaxJsonInteger = int64_t{1} << 53;

// Returns the value if it is an integer from `least` to `most`; 7.0 is none.
std::optional<int64_t> WholeNumber(const nlohmann::json& value, int64_t least, int64_t most);

// The same, and 7.0 is one, too. Throws a nlohmann::json::exception, as nlohmann's own conversions do, if the
// value is none. For callers that catch that for a whole object.
int64_t IntegerOf(const nlohmann::json& value, int64_t least, int64_t most);
// Likewise, of any number within the bounds.
double NumberOf(const nlohmann::json& value, double least = std::numeric_limits<double>::lowest(),
                double most = std::numeric_limits<double>::max());

}  // namespace attune

#endif  // ATTUNE_BASE_JSON_NUMBERS_H_
