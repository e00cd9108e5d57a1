// For tests: machine code of x86-64 that does what a hostile kernel does, assembled while the test runs.
#ifndef ATTUNE_MEASURE_HOSTILE_CODE_FOR_TEST_H_
#define ATTUNE_MEASURE_HOSTILE_CODE_FOR_TEST_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/sum_kernel_for_test.h"

namespace attune {

// The bytes of a value that has no pointers, as a system call reads it.
template <typename Value>
std::string BytesOf(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// An argument of a system call: a number, unless it is made by one of the functions below.
struct CallArgument {
  enum class Kind : uint8_t { kNumber, kBytes, kBuffer, kStack, kCode, kLastResult };

  CallArgument(int64_t value) : number(value) {}  // NOLINT(google-explicit-constructor)
  CallArgument(Kind of, int64_t value) : kind(of), number(value) {}

  Kind kind = Kind::kNumber;
  int64_t number = 0;      // kBuffer: its index
  std::string bytes = {};  // kBytes
};
// The address of bytes that cannot be written.
inline CallArgument Bytes(std::string bytes) {
  CallArgument argument(CallArgument::Kind::kBytes, 0);
  argument.bytes = std::move(bytes);
  return argument;
}
inline CallArgument Text(std::string_view text) { return Bytes(std::string(text) + '\0'); }
inline CallArgument Output() { return {CallArgument::Kind::kBuffer, 2}; }
// The address of kHostileStackBytes on the stack.
inline CallArgument Stack() { return {CallArgument::Kind::kStack, 0}; }
// The address of the kernel's own code.
inline CallArgument OwnCode() { return {CallArgument::Kind::kCode, 0}; }
// The result of the last system call.
inline CallArgument LastResult() { return {CallArgument::Kind::kLastResult, 0}; }

inline constexpr uint32_t kHostileStackBytes = 4096;

// A kernel with the parameters of SumKernel() and with scratch, as a sequence of steps. Between steps, r12
// holds the address of the buffers, r13 that of the scratch, rbx the result of the last system call, and rsp
// the address of kHostileStackBytes.
class HostileCode {
 public:
  HostileCode() {
    Append("\x53\x41\x54\x41\x55");                          // push rbx, r12, r13
    Append("\x49\x89\xFC\x49\x89\xD5");                      // mov r12, rdi; mov r13, rdx
    Append("\x48\x81\xEC").AppendValue(kHostileStackBytes);  // sub rsp, kHostileStackBytes
    begin_ = code_.size();
  }

  // Makes a system call with at most 6 arguments.
  HostileCode& Call(int64_t number, const std::vector<CallArgument>& arguments = {}) {
    constexpr uint8_t kRegisters[] = {7, 6, 2, 10, 8, 9};  // rdi, rsi, rdx, r10, r8, r9
    for (size_t i = 0; i < arguments.size(); ++i) Load(kRegisters[i], arguments[i]);
    Append("\xB8").AppendValue(static_cast<uint32_t>(number));  // mov eax, number
    return Append("\x0F\x05\x48\x89\xC3");                      // syscall; mov rbx, rax
  }

  // Does what the kernel is for: out = a + b.
  HostileCode& Sum() {
    Append(
        "\x49\x8B\x34\x24"      // mov rsi, [r12]
        "\x49\x8B\x54\x24\x08"  // mov rdx, [r12 + 8]
        "\x49\x8B\x7C\x24\x10"  // mov rdi, [r12 + 16]
        "\x31\xC9"              // xor ecx, ecx
        "\xF3\x0F\x10\x04\x8E"  // movss xmm0, [rsi + 4 * rcx]
        "\xF3\x0F\x58\x04\x8A"  // addss xmm0, [rdx + 4 * rcx]
        "\xF3\x0F\x11\x04\x8F"  // movss [rdi + 4 * rcx], xmm0
        "\xFF\xC1\x81\xF9");    // inc ecx; cmp ecx, kSumElements
    AppendValue(static_cast<uint32_t>(kSumElements));
    return Append("\x72\xE7");  // jb the first movss
  }

  // Any instructions, which keep the registers named above.
  HostileCode& Raw(std::string_view instructions) { return Append(instructions); }

  // Begins again with the first step.
  HostileCode& Again() {
    Append("\xE9");
    return AppendValue(static_cast<int32_t>(begin_ - code_.size() - sizeof(int32_t)));  // jmp
  }
  HostileCode& HangForever() { return Append("\xEB\xFE"); }  // jmp to itself

  // The whole kernel, which returns 0 after its last step.
  std::string Finish() const {
    HostileCode whole = *this;
    whole.Append("\x31\xC0\x48\x81\xC4").AppendValue(kHostileStackBytes);  // xor eax, eax; add rsp, ...
    whole.Append("\x41\x5D\x41\x5C\x5B\xC3");                              // pop r13, r12, rbx; ret
    for (const auto& [at, bytes] : bytes_) {
      const auto distance = static_cast<int32_t>(whole.code_.size() - at - sizeof(int32_t));
      std::memcpy(whole.code_.data() + at, &distance, sizeof(distance));
      whole.Append(bytes);
    }
    return whole.code_;
  }

 private:
  HostileCode& Append(std::string_view bytes) {
    code_ += bytes;
    return *this;
  }
  template <typename Value>
  HostileCode& AppendValue(Value value) {
    return Append(BytesOf(value));
  }

  // REX.W with the upper bits of the register that is written (`bit`: where they belong), and an opcode.
  HostileCode& AppendWide(uint8_t rex, uint8_t to, uint8_t bit, uint8_t opcode) {
    AppendValue(static_cast<uint8_t>(rex | (to >= 8 ? bit : 0)));
    return AppendValue(opcode);
  }

  void Load(uint8_t to, const CallArgument& argument) {
    constexpr uint8_t kW = 0x48, kR = 4, kB = 1;  // bits of REX
    const auto low = static_cast<uint8_t>(to & 7);
    const auto from_register = [&](uint8_t from) {  // mov to, from
      AppendWide(kW, to, kB, 0x89).AppendValue(static_cast<uint8_t>(0xC0 | from << 3 | low));
    };
    const auto from_code = [&] {  // lea to, [rip + distance]
      AppendWide(kW, to, kR, 0x8D).AppendValue(static_cast<uint8_t>(0x05 | low << 3));
    };
    switch (argument.kind) {
      case CallArgument::Kind::kNumber:  // mov to, number
        AppendWide(kW, to, kB, static_cast<uint8_t>(0xB8 | low)).AppendValue(argument.number);
        break;
      case CallArgument::Kind::kBytes:
        from_code();
        bytes_.emplace_back(code_.size(), argument.bytes);
        AppendValue(int32_t{0});
        break;
      case CallArgument::Kind::kCode:
        from_code();
        AppendValue(-static_cast<int32_t>(code_.size() + sizeof(int32_t)));
        break;
      case CallArgument::Kind::kBuffer:  // mov to, [r12 + 8 * index]
        AppendWide(kW | kB, to, kR, 0x8B).AppendValue(static_cast<uint8_t>(0x44 | low << 3));
        Append("\x24").AppendValue(static_cast<uint8_t>(8 * argument.number));
        break;
      case CallArgument::Kind::kStack:
        from_register(4);  // rsp
        break;
      case CallArgument::Kind::kLastResult:
        from_register(3);  // rbx
        break;
    }
  }

  std::string code_;
  size_t begin_ = 0;                                   // of the first step
  std::vector<std::pair<size_t, std::string>> bytes_;  // where their distance is to be filled in
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_HOSTILE_CODE_FOR_TEST_H_
