// Results of the C interface: structs that point to texts and arrays, which go with them.
#ifndef ATTUNE_LIBRARY_RESULT_H_
#define ATTUNE_LIBRARY_RESULT_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace attune::library {

// Memory that goes as a whole.
class ResultMemory {
 public:
  // A copy that ends with 0.
  const char* Text(std::string_view text) {
    char* const copy = New<char>(text.size() + 1);
    std::ranges::copy(text, copy);
    copy[text.size()] = '\0';
    return copy;
  }
  // An array of `convert(item)` for each item.
  template <typename Range, typename Convert>
  auto* Array(const Range& range, const Convert& convert) {
    using Item = std::decay_t<decltype(convert(*range.begin()))>;
    Item* const items = New<Item>(range.size());
    Item* next = items;
    for (const auto& item : range) std::construct_at(next++, convert(item));
    return static_cast<const Item*>(items);
  }
  // Pointers to them.
  template <typename Range, typename Convert>
  auto* Pointers(const Range& range, const Convert& convert) {
    return Array(range, [&](const auto& item) {
      using Item = std::decay_t<decltype(convert(item))>;
      return static_cast<const Item*>(std::construct_at(New<Item>(1), convert(item)));
    });
  }
  template <typename Item>
  const Item* Copy(const std::vector<Item>& items) {
    return Array(items, [](const Item& item) { return item; });
  }
  const char* const* Texts(const std::vector<std::string>& texts) {
    return Array(texts, [this](const std::string& text) { return Text(text); });
  }

 private:
  template <typename Item>
  Item* New(size_t count) {
    static_assert(std::is_trivially_destructible_v<Item>);
    return std::pmr::polymorphic_allocator<Item>(&memory_).allocate(count);
  }

  std::pmr::monotonic_buffer_resource memory_;
};

// A struct of the C interface with what it points to.
template <typename Public>
struct Result : Public {
  ResultMemory memory = {};
};

template <typename Public>
void FreeResult(const Public* result) {
  delete static_cast<const Result<Public>*>(result);
}

}  // namespace attune::library

#endif  // ATTUNE_LIBRARY_RESULT_H_
