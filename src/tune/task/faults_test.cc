#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/fatal.h"
#include "tensor/stmt.h"
#include "tune/task/faults_for_test.h"

namespace attune {
namespace {

using namespace std::string_view_literals;  // NOLINT: code has zeros in it

using enum TrialOutcome;

constexpr int64_t kFar = int64_t{1} << 40;      // elements: beyond all mapped memory
constexpr int64_t kHuge = int64_t{1} << 36;     // elements: more than fits in memory
constexpr int64_t kForEver = int64_t{1} << 50;  // iterations

Buffer Param(const LoopNest& nest, BufferRole role) {
  for (const LoopNest::Param& param : nest.params) {
    if (param.role == role) return param.buffer;
  }
  Fatal("the kernel has no such parameter");
}
Buffer Out(const LoopNest& nest) { return Param(nest, BufferRole::kOutput); }
Buffer In(const LoopNest& nest) { return Param(nest, BufferRole::kInput); }

// The indices of the element at an offset in memory, in bounds or not.
std::vector<Expr> At(const Buffer& buffer, Expr place) {
  std::vector<Expr> indices(buffer->shape.size(), Expr(0));
  indices.back() = std::move(place);
  return indices;
}
Stmt Set(const Buffer& buffer, Expr place, Expr value) {
  return MakeStore(buffer, At(buffer, std::move(place)), std::move(value));
}
Expr Get(const Buffer& buffer, Expr place) { return Load(buffer, At(buffer, std::move(place))); }
Expr One() { return FloatConst(1); }

template <typename F>
Stmt Loop(int64_t extent, LoopKind kind, F body) {
  const Var i = MakeVar("fault");
  return MakeFor(i, 0, extent, kind, body(Expr(i)));
}

// Adds a root statement after the kernel's own.
void Then(LoopNest& nest, Stmt statement) { nest.roots.push_back(std::move(statement)); }
// Replaces the kernel's own statements.
void Instead(LoopNest& nest, Stmt statement) { nest.roots = {std::move(statement)}; }
// All roots in one serial statement.
Stmt Whole(const LoopNest& nest) {
  std::vector<Stmt> roots;
  for (const Stmt& root : nest.roots) {
    auto copy = std::make_shared<StmtNode>(*root);
    if (copy->kind == StmtKind::kFor && copy->loop == LoopKind::kParallel) copy->loop = LoopKind::kSerial;
    roots.push_back(std::move(copy));
  }
  return MakeSequence(std::move(roots));
}
Buffer AddWorkspace(LoopNest& nest, int64_t elements) {
  const Buffer buffer = MakeBuffer("fault_space", DType::kF32, {elements});
  nest.params.push_back({buffer, BufferRole::kWorkspace});
  return buffer;
}
// Does the work only if `flag` does not say that it is done.
Stmt OnlyOnce(const LoopNest& nest, const Buffer& flag) {
  return MakeIf(NotEqual(Get(flag, 0), FloatConst(12345)),
                MakeSequence({Whole(nest), Set(flag, 0, FloatConst(12345))}));
}
Stmt InScratch(int64_t elements, int64_t place) {
  const Buffer scratch = MakeBuffer("fault_scratch", DType::kF32, {elements}, MemorySpace::kScratch);
  return MakeAllocate(scratch, Set(scratch, Expr(place), One()));
}

void NoFault(LoopNest&) {}
void OneElement(LoopNest& n) { Then(n, Set(Out(n), 7, Get(Out(n), 7) + One())); }
void LastElement(LoopNest& n) {
  const int64_t last = Out(n)->num_elements() - 1;
  Then(n, Set(Out(n), last, Get(Out(n), last) + One()));
}
void Scaled(LoopNest& n) {
  Then(n, Loop(Out(n)->num_elements(), LoopKind::kSerial,
               [&](const Expr& i) { return Set(Out(n), i, Get(Out(n), i) * FloatConst(1.01)); }));
}
void Negated(LoopNest& n) {
  Then(n, Loop(Out(n)->num_elements(), LoopKind::kParallel,
               [&](const Expr& i) { return Set(Out(n), i, -Get(Out(n), i)); }));
}
void AllZero(LoopNest& n) {
  Instead(n, Loop(Out(n)->num_elements(), LoopKind::kParallel,
                  [&](const Expr& i) { return Set(Out(n), i, FloatConst(0)); }));
}
void HalfWritten(LoopNest& n) {
  Instead(n, Loop(Out(n)->num_elements() / 2, LoopKind::kParallel,
                  [&](const Expr& i) { return Set(Out(n), i, Get(In(n), i)); }));
}
void CopiedInput(LoopNest& n) {
  Instead(n, Loop(Out(n)->num_elements(), LoopKind::kSerial,
                  [&](const Expr& i) { return Set(Out(n), i, Get(In(n), i)); }));
}
void NotANumber(LoopNest& n) { Then(n, Set(Out(n), 3, FloatConst(0) / (Get(In(n), 0) - Get(In(n), 0)))); }
void Infinite(LoopNest& n) { Then(n, Set(Out(n), 3, One() / (Get(In(n), 0) - Get(In(n), 0)))); }
void Shifted(LoopNest& n) {
  Instead(n, Loop(Out(n)->num_elements() - 1, LoopKind::kSerial,
                  [&](const Expr& i) { return Set(Out(n), i, Max(Get(In(n), i + 1), FloatConst(0))); }));
}
void WriteBehind(LoopNest& n) { Then(n, Set(Out(n), Out(n)->num_elements(), One())); }
void WriteBefore(LoopNest& n) { Then(n, Set(Out(n), -1, One())); }
void WriteFarBehind(LoopNest& n) { Then(n, Set(Out(n), kFar, One())); }
void WriteFarBefore(LoopNest& n) { Then(n, Set(Out(n), -kFar, One())); }
void WriteOn(LoopNest& n) {
  Then(n, Loop(kFar, LoopKind::kSerial, [&](const Expr& i) { return Set(Out(n), i, One()); }));
}
void WriteOnInParallel(LoopNest& n) {
  Then(n, Loop(kFar, LoopKind::kParallel, [&](const Expr& i) { return Set(Out(n), i, One()); }));
}
void WriteInput(LoopNest& n) { Then(n, Set(In(n), 0, One())); }
void ReadFarBehind(LoopNest& n) { Then(n, Set(Out(n), 0, Get(In(n), kFar))); }
void ReadFarBefore(LoopNest& n) { Then(n, Set(Out(n), 0, Get(In(n), -kFar))); }
void WildIndex(LoopNest& n) {
  const Expr place = CastTo(DType::kI64, Get(In(n), 5) * FloatConst(1e12));
  Then(n, Set(Out(n), place, One()));
}
void Endless(LoopNest& n) {
  Then(n, Loop(kForEver, LoopKind::kSerial,
               [&](const Expr& i) { return Set(Out(n), FloorMod(i, Expr(64)), CastTo(DType::kF32, i)); }));
}
void EndlessParallel(LoopNest& n) {
  Then(n, Loop(kForEver, LoopKind::kParallel,
               [&](const Expr& i) { return Set(Out(n), FloorMod(i, Expr(64)), CastTo(DType::kF32, i)); }));
}
void EndlessWhile(LoopNest& n) {
  Then(n, MakeWhile(Get(Out(n), 0) < FloatConst(1e30), Set(Out(n), 0, FloatConst(0))));
}
void HugeScratch(LoopNest& n) { Then(n, InScratch(kHuge, 0)); }
void HugeWorkspace(LoopNest& n) { Then(n, Set(AddWorkspace(n, kHuge), 0, One())); }
void ScratchOverrun(LoopNest& n) { Then(n, InScratch(16, kFar)); }
void WorkspaceOverrun(LoopNest& n) {
  const Buffer space = AddWorkspace(n, 16);
  Then(n, Set(space, 16, One()));
}
void StaleScratch(LoopNest& n) {  // reads scratch that was never written
  const Buffer scratch = MakeBuffer("fault_scratch", DType::kF32, {16}, MemorySpace::kScratch);
  Then(n, MakeAllocate(scratch, Set(Out(n), 0, Get(scratch, 3))));
}
void OnceByWorkspace(LoopNest& n) { Instead(n, OnlyOnce(n, AddWorkspace(n, 16))); }
void OnceByScratch(LoopNest& n) {
  const Buffer scratch = MakeBuffer("fault_scratch", DType::kF32, {16}, MemorySpace::kScratch);
  Instead(n, MakeAllocate(scratch, OnlyOnce(n, scratch)));
}
// Poison is NaN: if the first element is no longer NaN, the work seems to be done.
void OnceByOutput(LoopNest& n) {
  const Expr first = Get(Out(n), 0);
  Instead(n, MakeIf(NotEqual(first, first), Whole(n)));
}
// Does the work only in every second execution.
void EverySecondTime(LoopNest& n) {
  const Buffer flag = AddWorkspace(n, 16);
  Instead(n, MakeIf(Equal(Get(flag, 0), One()), Set(flag, 0, FloatConst(0)),
                    MakeSequence({Whole(n), Set(flag, 0, One())})));
}

const KernelFault kFaults[] = {
    {"none", {kOk}, NoFault},
    // Wrong results.
    {"one element", {kWrongResult}, OneElement},
    {"the last element", {kWrongResult}, LastElement},
    {"all scaled by 1.01", {kWrongResult}, Scaled},
    {"all negated", {kWrongResult}, Negated},
    {"all zero", {kWrongResult}, AllZero},
    {"half of it unwritten", {kWrongResult}, HalfWritten},
    {"the input", {kWrongResult}, CopiedInput},
    {"a NaN", {kWrongResult}, NotANumber},
    {"an infinity", {kWrongResult}, Infinite},
    {"shifted by one", {kWrongResult}, Shifted},
    {"stale scratch", {kWrongResult}, StaleScratch},
    // Accesses out of bounds.
    {"a write just behind", {kCrashed, kWrongResult}, WriteBehind},
    {"a write just before", {kCrashed, kWrongResult}, WriteBefore},
    {"a write far behind", {kCrashed}, WriteFarBehind},
    {"a write far before", {kCrashed}, WriteFarBefore},
    {"writes on and on", {kCrashed}, WriteOn},
    {"parallel writes on and on", {kCrashed}, WriteOnInParallel},
    {"a write to the input", {kCrashed}, WriteInput},
    {"a read far behind", {kCrashed}, ReadFarBehind},
    {"a read far before", {kCrashed}, ReadFarBefore},
    {"a wild index", {kCrashed}, WildIndex},
    {"scratch overrun", {kCrashed}, ScratchOverrun},
    {"workspace overrun", {kCrashed, kWrongResult}, WorkspaceOverrun},
    // Hangs.
    {"an endless loop", {kTimedOut}, Endless},
    {"an endless parallel loop", {kTimedOut}, EndlessParallel},
    {"an endless while", {kTimedOut}, EndlessWhile},
    {"a jump to itself", {kTimedOut}, nullptr, "\xEB\xFE"sv},
    {"a pause for ever", {kTimedOut}, nullptr, "\xF3\x90\xEB\xFC"sv},
    {"waits for the next command",
     {kTimedOut},
     nullptr,  // read(3, rsp - 256, 1)
     "\xBF\x03\x00\x00\x00\x48\x8D\xB4\x24\x00\xFF\xFF\xFF\xBA\x01\x00\x00\x00\x31\xC0\x0F\x05\xC3"sv},
    // Too much memory.
    {"huge scratch", {kOutOfMemory}, HugeScratch},
    {"a huge workspace", {kOutOfMemory}, HugeWorkspace},
    {"a huge frame", {kCrashed}, nullptr, "\x48\x81\xEC\x00\x00\x00\x40\x89\x04\x24\xC3"sv},
    {"endless recursion", {kCrashed}, nullptr, "\xE8\xFB\xFF\xFF\xFF\xC3"sv},
    {"maps memory",
     {kCrashed},
     nullptr,
     "\x31\xFF\x48\xC7\xC6\x00\x00\x00\x40\xB8\x09\x00\x00\x00\x0F\x05\x31\xC0\xC3"sv},
    // Crashes.
    {"a null pointer", {kCrashed}, nullptr, "\x31\xC0\x89\x00\xC3"sv},
    {"an illegal instruction", {kCrashed}, nullptr, "\x0F\x0B"sv},
    {"a division by zero", {kCrashed}, nullptr, "\x31\xC9\x31\xC0\x99\xF7\xF9\xC3"sv},
    {"a breakpoint", {kCrashed}, nullptr, "\xCC\xC3"sv},
    {"a privileged instruction", {kCrashed}, nullptr, "\xF4\xC3"sv},
    {"a misaligned store", {kCrashed}, nullptr, "\x48\x8B\x07\x0F\x29\x40\x01\xC3"sv},
    {"a jump to nowhere", {kCrashed}, nullptr, "\x31\xC0\xFF\xE0"sv},
    {"a return to nowhere", {kCrashed}, nullptr, "\x6A\x00\xC3"sv},
    {"a write to its code", {kCrashed}, nullptr, "\x48\x8D\x05\xF9\xFF\xFF\xFF\xC6\x00\xC3\xC3"sv},
    {"a smashed stack", {kCrashed}, nullptr, "\x48\x89\xE7\xB9\x00\x00\x01\x00\xF3\xAA\xC3"sv},
    {"a status", {kCrashed}, nullptr, "\xB8\x07\x00\x00\x00\xC3"sv},
    // System calls.
    {"exits", {kCrashed}, nullptr, "\xB8\xE7\x00\x00\x00\x31\xFF\x0F\x05"sv},
    {"forks", {kCrashed}, nullptr, "\xB8\x39\x00\x00\x00\x0F\x05\xC3"sv},
    {"opens a file", {kCrashed}, nullptr, "\xB8\x02\x00\x00\x00\x0F\x05\xC3"sv},
    {"opens a socket", {kCrashed}, nullptr, "\xB8\x29\x00\x00\x00\x0F\x05\xC3"sv},
    {"starts a program", {kCrashed}, nullptr, "\xB8\x3B\x00\x00\x00\x0F\x05\xC3"sv},
    {"kills its parent", {kCrashed}, nullptr, "\xB8\x6E\x00\x00\x00\x0F\x05\xC3"sv},
    {"writes to standard error",
     {kCrashed},
     nullptr,
     "\xBF\x02\x00\x00\x00\xB8\x01\x00\x00\x00\x0F\x05\xC3"sv},
    {"calls as a program of 32 bits", {kCrashed}, nullptr, "\xB8\x01\x00\x00\x00\xCD\x80\xC3"sv},
    // Forged timing.
    {"returns at once", {kWrongResult}, nullptr, "\x31\xC0\xC3"sv},
    {"works once, by a workspace", {kWrongResult}, OnceByWorkspace},
    {"works once, by scratch", {kWrongResult}, OnceByScratch},
    {"works once, by its output", {kWrongResult}, OnceByOutput},
    {"works every second time", {kWrongResult}, EverySecondTime},
    {"answers in its place",
     {kInvalidTiming},
     nullptr,  // write(4, rsp, 48)
     "\x48\x83\xEC\x40\xBF\x04\x00\x00\x00\x48\x89\xE6\xBA\x30\x00\x00\x00\xB8\x01\x00\x00\x00\x0F\x05"
     "\x48\x83\xC4\x40\x31\xC0\xC3"sv},
    {"answers a byte in its place",
     {kInvalidTiming},
     nullptr,  // write(4, rsp, 1)
     "\x48\x83\xEC\x40\xBF\x04\x00\x00\x00\x48\x89\xE6\xBA\x01\x00\x00\x00\xB8\x01\x00\x00\x00\x0F\x05"
     "\x48\x83\xC4\x40\x31\xC0\xC3"sv},
    {"forgets where its output is",
     {kWrongResult, kCrashed},
     nullptr,
     "\x48\xC7\x47\x08\x00\x00\x00\x00\x31\xC0\xC3"sv},
};

int64_t FaultOf(const Candidate& candidate) {
  const auto it = candidate.config.find("fault");
  return it == candidate.config.end() ? 0 : it->second;
}

const KernelFault* KernelFaultOf(const Candidate& candidate) {
  const int64_t fault = FaultOf(candidate);
  return fault >= 0 && fault < static_cast<int64_t>(std::size(kFaults)) ? &kFaults[fault] : nullptr;
}

void FailBuild(const Candidate& candidate) {
  switch (FaultOf(candidate)) {
    case kAbort:
      std::fputs("something is badly wrong\n", stderr);
      std::abort();
    case kSegmentationFault:
      std::raise(SIGSEGV);
      break;
    case kExit:
      _exit(3);
    case kHang:
      for (;;) poll(nullptr, 0, -1);
    case kMemory:
      for (std::vector<std::unique_ptr<char[]>> all;;)
        all.push_back(std::make_unique_for_overwrite<char[]>(size_t{256} << 20));  // not touched
    case kStops:
      std::raise(SIGSTOP);
      break;
    case kChatter: {
      const std::string line(100, 'x');
      for (int i = 0; i < 100000; ++i) std::fprintf(stderr, "%s\n", line.c_str());
      _exit(4);
    }
    default:
      break;
  }
}

void ChangeNest(const Candidate& candidate, GroupKernel& kernel) {
  const KernelFault* fault = KernelFaultOf(candidate);
  if (fault != nullptr && fault->change != nullptr) fault->change(kernel.nest);
}

void ReplaceCode(const Candidate& candidate, BuiltKernel& kernel) {
  const KernelFault* fault = KernelFaultOf(candidate);
  if (fault == nullptr || fault->code.empty()) return;
  kernel.code.bytes.assign(4096, '\xCC');
  kernel.code.bytes.replace(0, fault->code.size(), fault->code);
  kernel.code.phases = {{0, false}};
}

}  // namespace

std::span<const KernelFault> KernelFaults() { return kFaults; }

Candidate WithFault(Candidate candidate, int64_t fault) {
  candidate.config["fault"] = fault;
  return candidate;
}

BuildHooks HooksOfTest() { return {.before = FailBuild, .lowered = ChangeNest, .linked = ReplaceCode}; }

}  // namespace attune
