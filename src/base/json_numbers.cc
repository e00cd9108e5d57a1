#include "base/json_numbers.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace attune {
namespace {

using Json = nlohmann::json;

Json::out_of_range Refusal(const Json& value, const std::string& wanted) {
  constexpr int kOutOfRange = 406;  // nlohmann's own number of it
  const std::string given = value.is_primitive() ? value.dump(-1, ' ', false, Json::error_handler_t::replace)
                                                 : std::string(value.type_name());
  return Json::out_of_range::create(kOutOfRange, absl::StrCat(given, " is not ", wanted), nullptr);
}

}  // namespace

std::optional<int64_t> WholeNumber(const Json& value, int64_t least, int64_t most) {
  // A number beyond the range of int64_t is kept as an unsigned one.
  const bool fits = value.is_number_unsigned() ? value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)
                                               : value.is_number_integer();
  if (!fits || value.get<int64_t>() < least || value.get<int64_t>() > most) return std::nullopt;
  return value.get<int64_t>();
}

int64_t IntegerOf(const Json& value, int64_t least, int64_t most) {
  std::optional<int64_t> integer = WholeNumber(value, least, most);
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    const bool is_exact = number == std::trunc(number) && std::abs(number) <= kMaxJsonInteger;
    if (is_exact) integer = WholeNumber(static_cast<int64_t>(number), least, most);
  }
  if (!integer) throw Refusal(value, absl::StrCat("an integer from ", least, " to ", most));
  return *integer;
}

double NumberOf(const Json& value, double least, double most) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (!(number >= least && number <= most))
    throw Refusal(value, absl::StrCat("a number from ", least, " to ", most));
  return number;
}

}  // namespace attune
