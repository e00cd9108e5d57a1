// Sets and reads options of the C interface by their names. For attune/detail/options.hpp alone.
#ifndef ATTUNE_DETAIL_SET_OPTIONS_HPP_
#define ATTUNE_DETAIL_SET_OPTIONS_HPP_

#include <cstdint>
#include <string>
#include <vector>

#include "attune/detail/call.hpp"
#include "attune/options.h"

namespace attune::compiler::detail {

inline void set(attune_options* to, const char* name, bool value) {
  call(attune_options_set_bool, to, name, static_cast<int>(value));
}
inline void set(attune_options* to, const char* name, int64_t value) {
  call(attune_options_set_int, to, name, value);
}
inline void set(attune_options* to, const char* name, int value) { set(to, name, int64_t{value}); }
inline void set(attune_options* to, const char* name, uint64_t value) {
  call(attune_options_set_uint, to, name, value);
}
inline void set(attune_options* to, const char* name, double value) {
  call(attune_options_set_double, to, name, value);
}
inline void set(attune_options* to, const char* name, const std::string& value) {
  call(attune_options_set_text, to, name, value.c_str());
}
inline void set(attune_options* to, const char* name, const std::vector<std::string>& values) {
  const std::vector<const char*> items = pointers(values);
  call(attune_options_set_texts, to, name, items.data(), items.size());
}
inline void set(attune_options* to, const char* name, const std::vector<double>& values) {
  call(attune_options_set_doubles, to, name, values.data(), values.size());
}

// Sets an option that has another value than by default. So an older library need not know the others.
template <typename Value>
void set_changed(attune_options* to, const char* name, const Value& value, const Value& by_default) {
  if (value != by_default) set(to, name, value);
}

inline void read(const attune_options& from, const char* name, bool& value) {
  int is_set = 0;
  call(attune_options_get_bool, &from, name, &is_set);
  value = is_set != 0;
}
inline void read(const attune_options& from, const char* name, int& value) {
  int64_t number = 0;
  call(attune_options_get_int, &from, name, &number);
  value = static_cast<int>(number);
}
inline void read(const attune_options& from, const char* name, std::string& value) {
  const char* text = nullptr;
  call(attune_options_get_text, &from, name, &text);
  value = text;
}
inline void read(const attune_options& from, const char* name, std::vector<std::string>& values) {
  const auto texts = get<attune_texts_free>(attune_options_get_texts, &from, name);
  values = strings(texts->items, texts->count);
}

}  // namespace attune::compiler::detail

#endif  // ATTUNE_DETAIL_SET_OPTIONS_HPP_
