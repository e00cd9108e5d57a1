# Makes absl::string_view and std::string_view convert into each other.
#
# Debian 12 builds abseil for C++14, where absl::string_view is a class of its own that knows nothing of
# std::string_view. Copies of three headers, with the missing conversions added, go into the build folder
# and before the system's. The class keeps its members, and so the library its binary interface. Where
# abseil is built for C++17 the two are one type and nothing is done.

find_path(ABSEIL_INCLUDE_DIR absl/base/options.h REQUIRED)
file(STRINGS ${ABSEIL_INCLUDE_DIR}/absl/base/options.h own_string_view
     REGEX "^#define ABSL_OPTION_USE_STD_STRING_VIEW 0")

# Writes the copy of a header in which `code` follows the line `line`.
function(attune_extend_header header line code)
  file(READ ${ABSEIL_INCLUDE_DIR}/${header} before)
  string(REPLACE "${line}\n" "${line}\n${code}\n" after "${before}")
  if(after STREQUAL before)
    message(FATAL_ERROR "${header} has no line '${line}'")
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/abseil/${header} CONTENT "${after}" @ONLY)
endfunction()

if(own_string_view)
  attune_extend_header(absl/strings/string_view.h "  // Implicit constructors"
    "  constexpr string_view(std::string_view s) noexcept : ptr_(s.data()), length_(s.size()) {}
  constexpr operator std::string_view() const noexcept { return {ptr_, length_}; }")
  attune_extend_header(absl/strings/str_cat.h "  AlphaNum(absl::string_view pc) : piece_(pc) {}  // NOLINT(runtime/explicit)"
    "  AlphaNum(std::string_view s) : piece_(s) {}")
  attune_extend_header(absl/strings/internal/str_split_internal.h
    "  ConvertibleToStringView(char* s) : value_(s) {}  // NOLINT(runtime/explicit)"
    "  ConvertibleToStringView(std::string_view s) : value_(s) {}")
  include_directories(BEFORE SYSTEM ${CMAKE_BINARY_DIR}/abseil)
endif()
