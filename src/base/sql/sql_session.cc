#include "base/sql/sql_session.h"

#include "absl/strings/numbers.h"
#include "base/overloaded.h"

namespace attune {

int64_t SqlRow::Integer(int column) const {
  return std::visit(
      Overloaded{[](int64_t value) { return value; },
                 [](double value) { return static_cast<int64_t>(value); },
                 [](const std::string& text) {
                   int64_t value = 0;
                   return absl::SimpleAtoi(text, &value) ? value : 0;
                 },
                 [](const SqlBytes&) { return int64_t{0}; }, [](SqlNull) { return int64_t{0}; }},
      values_.at(column));
}

double SqlRow::Real(int column) const {
  return std::visit(
      Overloaded{[](int64_t value) { return static_cast<double>(value); }, [](double value) { return value; },
                 [](const std::string& text) {
                   double value = 0;
                   return absl::SimpleAtod(text, &value) ? value : 0.0;
                 },
                 [](const SqlBytes&) { return 0.0; }, [](SqlNull) { return 0.0; }},
      values_.at(column));
}

std::string SqlRow::Text(int column) const {
  return std::visit(
      Overloaded{[](int64_t value) -> std::string { return absl::StrCat(value); },
                 [](double value) -> std::string { return absl::StrCat(value); },
                 [](const std::string& text) { return text; },
                 [](const SqlBytes& value) { return value.bytes; }, [](SqlNull) { return std::string(); }},
      values_.at(column));
}

}  // namespace attune
