// Makes what is said over a protocol wrong in one place, for tests of those who listen.
//
// Works on the bytes of protobuf messages, whose fields carry their number and their type, so that it needs
// to know no message. Bytes in fields that are messages themselves are looked into, too.
#ifndef ATTUNE_BASE_TESTING_MESSAGE_MUTATIONS_H_
#define ATTUNE_BASE_TESTING_MESSAGE_MUTATIONS_H_

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"

namespace attune::testing {

// How often, and from which seed: a test's own numbers, or those of the environment, for longer runs.
struct FuzzingRun {
  uint64_t seed = 20261129;
  int64_t count = 2000;

  static FuzzingRun FromEnvironment() {
    FuzzingRun run;
    if (const char* count = std::getenv("ATTUNE_FUZZED_CONVERSATIONS")) run.count = std::atoll(count);
    if (const char* seed = std::getenv("ATTUNE_FUZZ_SEED")) run.seed = std::strtoull(seed, nullptr, 10);
    return run;
  }
  // The messages of one conversation: each can be had again without those before it.
  Random RandomOf(int64_t conversation) const {
    return Random(seed + 0x9E3779B97F4A7C15u * static_cast<uint64_t>(conversation));
  }
};

class MessageMutations {
 public:
  // `known`: texts with a meaning for the receiver, such as others' names.
  MessageMutations(Random& random, std::vector<std::string> known)
      : random_(random), known_(std::move(known)) {}

  // The message with one field, at any depth, at an edge, left out, twice, or cut.
  std::string Spoil(const std::string& message) {
    if (Happens(20)) return message.substr(0, Below(message.size() + 1));
    std::optional<std::vector<Field>> fields = Parse(message);
    if (!fields) return message;
    if (fields->empty() || Happens(30)) {
      fields->push_back({.number = 1 + Below(40), .type = kText, .text = Text("")});
      return Write(*fields);
    }
    SpoilOne(*fields);
    return Write(*fields);
  }

  size_t Below(size_t count) { return static_cast<size_t>(random_.Next() % count); }
  bool Happens(size_t one_in) { return Below(one_in) == 0; }

 private:
  static constexpr uint64_t kNumber = 0, kReal = 1, kText = 2, kShortReal = 5;
  struct Field {
    uint64_t number = 0, type = 0;
    uint64_t value = 0;     // of a number or a real
    std::string text = {};  // of a text or a message
  };

  static bool ReadNumber(std::string_view& bytes, uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes.front());
      bytes.remove_prefix(1);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  static bool ReadFixed(std::string_view& bytes, size_t count, uint64_t& value) {
    if (bytes.size() < count) return false;
    value = 0;
    for (size_t i = 0; i < count; ++i) value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    bytes.remove_prefix(count);
    return true;
  }
  static std::optional<std::vector<Field>> Parse(std::string_view bytes) {
    std::vector<Field> fields;
    while (!bytes.empty()) {
      uint64_t tag = 0, size = 0;
      if (!ReadNumber(bytes, tag) || tag >> 3 == 0) return std::nullopt;
      Field field = {.number = tag >> 3, .type = tag & 7};
      if (field.type == kNumber) {
        if (!ReadNumber(bytes, field.value)) return std::nullopt;
      } else if (field.type == kReal || field.type == kShortReal) {
        if (!ReadFixed(bytes, field.type == kReal ? 8 : 4, field.value)) return std::nullopt;
      } else if (field.type == kText) {
        if (!ReadNumber(bytes, size) || size > bytes.size()) return std::nullopt;
        field.text = bytes.substr(0, size);
        bytes.remove_prefix(size);
      } else {
        return std::nullopt;
      }
      fields.push_back(std::move(field));
    }
    return fields;
  }
  static void WriteNumber(uint64_t value, std::string& to) {
    for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
    to += static_cast<char>(value);
  }
  static std::string Write(const std::vector<Field>& fields) {
    std::string bytes;
    for (const Field& field : fields) {
      WriteNumber(field.number << 3 | field.type, bytes);
      if (field.type == kNumber) WriteNumber(field.value, bytes);
      if (field.type == kText) WriteNumber(field.text.size(), bytes);
      if (field.type == kReal || field.type == kShortReal)
        for (size_t i = 0; i < (field.type == kReal ? 8u : 4u); ++i)
          bytes += static_cast<char>(field.value >> (8 * i));
      bytes += field.text;
    }
    return bytes;
  }

  void SpoilOne(std::vector<Field>& fields) {
    const size_t at = Below(fields.size());
    Field& field = fields[at];
    // Mostly something deeper, since that is where most fields are.
    if (field.type == kText && !field.text.empty() && !Happens(4)) {
      if (auto nested = Parse(field.text); nested && !nested->empty()) {
        SpoilOne(*nested);
        field.text = Write(*nested);
        return;
      }
    }
    if (Happens(10)) {
      fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (Happens(10)) {
      const Field copy = field;
      const size_t times = copy.text.size() < 100 && Happens(10) ? 5000 : 1;
      fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(at), times, copy);
    } else if (field.type == kNumber) {
      field.value = Number(field.value);
    } else if (field.type == kReal) {
      field.value = std::bit_cast<uint64_t>(Real());
    } else {
      field.text = Text(field.text);
    }
  }

  uint64_t Number(uint64_t value) {
    const uint64_t edges[] = {0,
                              1,
                              value + 1,
                              value - 1,
                              uint64_t{1} << 31,
                              (uint64_t{1} << 31) - 1,
                              uint64_t{1} << 32,
                              uint64_t{1} << 53,
                              uint64_t{1} << 63,
                              (uint64_t{1} << 63) - 1,
                              ~uint64_t{0},
                              static_cast<uint64_t>(int64_t{INT32_MIN}),
                              Below(64)};
    return edges[Below(std::size(edges))];
  }
  double Real() {
    using Limits = std::numeric_limits<double>;
    const double edges[] = {
        0.0,   -0.0,   1.0, -1.0, Limits::quiet_NaN(),  Limits::infinity(), -Limits::infinity(),
        1e308, 1e-300, 1e9, 1e10, Limits::denorm_min(), random_.Uniform()};
    return edges[Below(std::size(edges))];
  }
  std::string Text(const std::string& text) {
    switch (Below(14)) {
      case 0:
        return "";
      case 1:
        return "..";
      case 2:
        return "/";
      case 3:
        return text + "\n\x1b[2J";
      case 4:
        return text + "\xFF\xFE";
      case 5:
        return text + std::string(1, '\0') + "x";
      case 6:
        return std::string(Happens(20) ? size_t{1} << 20 : 2000, 'x');
      case 7:
        return std::string(64, 'f');
      case 8:
        return text + "x";
      case 9:
        return text.substr(0, text.size() / 2);
      case 10:
        return std::string(Happens(20) ? 200'000 : 100, '[');
      case 11:
        return "\xE2\x80\xAE" + text;  // from right to left
      case 12:
        return R"({"judged": {"latency_ms": [1e308, -1, "x"]}, "parts": -1})";
      default:
        return known_.empty() ? "?" : known_[Below(known_.size())];
    }
  }

  Random& random_;
  const std::vector<std::string> known_;
};

// The order in which the steps 0 to `count` - 1 of a conversation are taken: one is dropped, comes twice,
// comes elsewhere, or is the last.
inline std::vector<size_t> SpoiledOrder(MessageMutations& mutations, size_t count) {
  std::vector<size_t> order;
  for (size_t i = 0; i < count; ++i) order.push_back(i);
  const auto at = [&] { return order.begin() + static_cast<std::ptrdiff_t>(mutations.Below(order.size())); };
  switch (mutations.Below(5)) {
    case 0:
      order.erase(at());
      break;
    case 1: {
      const size_t twice = *at();
      order.insert(at(), twice);
      break;
    }
    case 2:
      std::swap(*at(), *at());
      break;
    case 3:
      order.erase(at(), order.end());
      break;
    default:
      break;
  }
  return order;
}

}  // namespace attune::testing

#endif  // ATTUNE_BASE_TESTING_MESSAGE_MUTATIONS_H_
