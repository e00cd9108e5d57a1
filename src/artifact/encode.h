// The two archives for format.h: Encoder and Decoder.
#ifndef ATTUNE_ARTIFACT_ENCODE_H_
#define ATTUNE_ARTIFACT_ENCODE_H_

#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "artifact/checksum.h"
#include "artifact/format.h"

namespace attune::format {

// Appends encoded values to a string.
class Encoder {
 public:
  explicit Encoder(uint32_t version = kArtifactVersion) : version_(version) {}

  uint32_t version() const { return version_; }
  const std::string& bytes() const { return bytes_; }

  template <typename... T>
  void operator()(T&... values) {
    (Put(values), ...);
  }

 private:
  template <typename T>
  void Put(T& value) {
    if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
      bytes_.push_back(static_cast<char>(value));
    } else if constexpr (std::is_integral_v<T>) {
      for (size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
    } else {
      Fields(*this, value);
    }
  }
  void Put(std::string& text) {
    PutCount(text.size());
    bytes_.append(text);
  }
  template <typename T>
  void Put(std::vector<T>& list) {
    PutCount(list.size());
    for (T& item : list) Put(item);
  }
  void PutCount(size_t count) {
    uint32_t number = static_cast<uint32_t>(count);
    Put(number);
  }

  uint32_t version_;
  std::string bytes_;
};

// The checksum of all kernels' interfaces in order, as the version encodes them, followed by the checksum of
// the code that they describe.
inline uint64_t KernelsChecksum(const Manifest& manifest, uint64_t code_checksum,
                                uint32_t version = kArtifactVersion) {
  Encoder encoder(version);
  for (const Variant& variant : manifest.variants) {
    for (const KernelInfo& kernel : variant.kernels) {
      KernelInterface interface = kernel.interface;  // an archive takes its fields by non-const reference
      encoder(interface);
    }
  }
  encoder(code_checksum);
  return Xxh64(std::as_bytes(std::span(encoder.bytes())));
}

// Decodes untrusted bytes. After the first fault (a read beyond the end, or a value that its type does not
// have), every read yields zeros and `failed` stays true. Memory stays within a small factor of the number
// of bytes, since a list only grows as its items are read.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes, uint32_t version = kArtifactVersion)
      : bytes_(bytes), version_(version) {}

  uint32_t version() const { return version_; }
  bool failed() const { return failed_; }
  bool at_end() const { return bytes_.empty(); }

  template <typename... T>
  void operator()(T&... values) {
    (Get(values), ...);
  }

 private:
  template <typename T>
  void Get(T& value) {
    if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
      uint8_t number = 0;
      Get(number);
      if (number > Largest(value)) return Fail();
      value = static_cast<T>(number);
    } else if constexpr (std::is_integral_v<T>) {
      std::make_unsigned_t<T> number = 0;
      if (bytes_.size() < sizeof(T)) return Fail();
      for (size_t i = 0; i < sizeof(T); ++i) {
        number |= static_cast<std::make_unsigned_t<T>>(std::to_integer<std::make_unsigned_t<T>>(bytes_[i])
                                                       << (8 * i));
      }
      bytes_ = bytes_.subspan(sizeof(T));
      value = static_cast<T>(number);
    } else {
      Fields(*this, value);
    }
  }
  void Get(std::string& text) {
    const size_t count = GetCount();
    text.assign(reinterpret_cast<const char*>(bytes_.data()), count);
    bytes_ = bytes_.subspan(count);
  }
  template <typename T>
  void Get(std::vector<T>& list) {
    const size_t count = GetCount();
    for (size_t i = 0; i < count && !failed_; ++i) Get(list.emplace_back());
  }
  // Reads the length of a list or string. Each item takes at least one byte, so a length beyond the
  // remaining bytes is a fault.
  size_t GetCount() {
    uint32_t count = 0;
    Get(count);
    if (count > bytes_.size()) Fail();
    return failed_ ? 0 : count;
  }

  static uint8_t Largest(bool) { return 1; }
  static uint8_t Largest(SizeOpcode) { return static_cast<uint8_t>(SizeOpcode::kMax); }
  static uint8_t Largest(Place) { return static_cast<uint8_t>(Place::kPrepacked); }
  static uint8_t Largest(Opcode) { return static_cast<uint8_t>(Opcode::kCheckIndices); }
  static uint8_t Largest(ConstantEncoding) { return static_cast<uint8_t>(ConstantEncoding::kBF16); }

  void Fail() {
    failed_ = true;
    bytes_ = {};
  }

  std::span<const std::byte> bytes_;
  uint32_t version_;
  bool failed_ = false;
};

}  // namespace attune::format

#endif  // ATTUNE_ARTIFACT_ENCODE_H_
