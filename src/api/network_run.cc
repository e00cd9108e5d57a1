// Runs compiled networks: inputs, runs, timing and verification.
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/network_state.h"
#include "base/clock.h"
#include "base/face.h"
#include "base/processors.h"
#include "base/status.h"

namespace attune {
namespace {

bool Contains(const std::vector<NamedTensor>& tensors, const std::string& name) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const NamedTensor& t) { return t.name == name; });
}

constexpr double kMaxBenchSeconds = 86400;

// Gives the inputs of an artifact that leaves sizes open these shapes and those of the values. A batch that
// is open all the same is 1; another size is an error.
absl::Status BindOpenSizes(std::map<std::string, Shape> shapes, const std::vector<NamedTensor>& values,
                           std::vector<InputDeclaration>& declarations) {
  for (const NamedTensor& value : values) {
    const bool is_declared =
        std::ranges::find(declarations, value.name, &InputDeclaration::name) != declarations.end();
    if (is_declared) shapes[value.name] = value.tensor.shape();
  }
  RETURN_IF_ERROR(BindShapes(shapes, declarations));
  for (InputDeclaration& declaration : declarations) {
    for (size_t d = 0; d < declaration.shape.size(); ++d) {
      if (declaration.shape[d] >= 0) continue;
      if (d == 0) {
        declaration.shape[d] = 1;
        continue;
      }
      std::vector<std::string> example;
      for (size_t i = 0; i < declaration.shape.size(); ++i)
        example.push_back(declaration.shape[i] >= 0 ? absl::StrCat(declaration.shape[i])
                          : i == 0                  ? "1"
                                                    : "64");
      const WrittenShape written = {declaration.name, example};
      return InvalidInput("input \"", declaration.name, "\" (", ToString(declaration), ") leaves ",
                          declaration.dims[d], " open; give its shape, for example ",
                          ShapesAsGiven(std::span(&written, 1)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> Network::RandomInput(const std::string& name, uint64_t seed) const {
  ASSIGN_OR_RETURN(const std::vector<InputDeclaration> declarations, Inputs());
  const auto input = std::find_if(declarations.begin(), declarations.end(),
                                  [&](const InputDeclaration& d) { return d.name == name; });
  if (input == declarations.end()) {
    return InvalidInput(state_->source, ": input \"", name, "\" shapes the network; give it a value");
  }
  return RandomInput(*input, seed);
}

absl::StatusOr<Tensor> Network::RandomInput(const InputDeclaration& input, uint64_t seed) const {
  int64_t limit = kRandomLimit;
  for (size_t i = 0; state_->imported != nullptr && i < state_->imported->inputs().size(); ++i) {
    if (state_->imported->inputs()[i]->name() == input.name) limit = RandomLimits(*state_->imported)[i];
  }
  return RandomTensor(*input.dtype, input.shape, seed, limit);
}

absl::StatusOr<std::shared_ptr<const CompiledModel>> Network::CompiledFor(
    const std::vector<NamedTensor>& inputs) const {
  RETURN_IF_ERROR(status());
  if (state_->compiled == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(state_->source, state_->artifact.empty() ? ": is not compiled; call Compile() first"
                                                              : ": is compiled for another processor"));
  }
  // With a single set of shapes, the later errors are better: they name the input.
  if (state_->compiled->ShapeSets().size() == 1) return state_->compiled;
  std::map<std::string, Shape> shapes;
  for (const NamedTensor& input : inputs) shapes[input.name] = input.tensor.shape();
  absl::StatusOr<std::shared_ptr<const CompiledModel>> compiled = state_->compiled->ForShapes(shapes);
  if (!compiled.ok()) return Name(compiled.status(), state_->source);
  return compiled;
}

absl::StatusOr<std::vector<NamedTensor>> Network::Complete(const std::vector<NamedTensor>& given,
                                                           uint64_t seed) const {
  RETURN_IF_ERROR(CheckNames(given));
  ASSIGN_OR_RETURN(std::vector<InputDeclaration> declarations, Inputs());
  if (state_->compiled != nullptr) {
    ASSIGN_OR_RETURN(const std::shared_ptr<const CompiledModel> compiled, CompiledFor(given));
    declarations = compiled->Inputs();
    RETURN_IF_ERROR(Name(BindOpenSizes(state_->open_shapes, given, declarations), state_->source));
  }
  std::vector<NamedTensor> complete = given;
  for (size_t i = 0; i < declarations.size(); ++i) {
    if (Contains(given, declarations[i].name)) continue;
    ASSIGN_OR_RETURN(Tensor tensor, RandomInput(declarations[i], seed + i));
    complete.push_back({declarations[i].name, std::move(tensor)});
  }
  return complete;
}

absl::StatusOr<Session> Network::Prepare(const std::vector<NamedTensor>& inputs, int threads) const {
  ASSIGN_OR_RETURN(const std::shared_ptr<const CompiledModel> compiled, CompiledFor(inputs));
  const std::vector<InputDeclaration> declarations = compiled->Inputs();
  std::vector<NamedTensor> remaining;
  for (const NamedTensor& input : inputs) {
    const bool remains = std::any_of(declarations.begin(), declarations.end(),
                                     [&](const InputDeclaration& d) { return d.name == input.name; });
    const auto fixed = state_->fixed_inputs.find(input.name);
    if (remains || fixed == state_->fixed_inputs.end()) {
      remaining.push_back(input);
    } else if (!fixed->second.Identical(input.tensor)) {
      return InvalidInput(state_->source, ": input \"", input.name,
                          "\" shapes the network, which was made for another value; load the model anew");
    }
  }
  absl::StatusOr<Session> session = Session::Create(compiled, threads);
  if (!session.ok()) return Name(session.status(), state_->source);
  RETURN_IF_ERROR(Name(session->SetInputs(remaining), state_->source));
  return session;
}

absl::StatusOr<std::vector<NamedTensor>> Network::Run(const std::vector<NamedTensor>& inputs,
                                                      int threads) const {
  ASSIGN_OR_RETURN(Session session, Prepare(inputs, threads));
  RETURN_IF_ERROR(Name(session.Run(), state_->source));
  return session.Outputs();
}

absl::StatusOr<VerifyReport> Network::Verify(const std::vector<NamedTensor>& inputs, uint64_t seed,
                                             int threads) const {
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> complete, Complete(inputs, seed));
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> actual, Run(complete, threads));
  return VerifyOutputs(complete, actual);
}

absl::StatusOr<VerifyReport> Network::VerifyOutputs(const std::vector<NamedTensor>& inputs,
                                                    const std::vector<NamedTensor>& actual) const {
  RETURN_IF_ERROR(status());
  if (state_->imported == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        state_->source, ": is compiled already; to verify it, give the model that it was made from"));
  }
  absl::StatusOr<VerifyReport> report =
      VerifyAgainstReference(*state_->imported, inputs, actual, state_->precision);
  if (!report.ok()) return Name(report.status(), state_->source);
  return report;
}

absl::StatusOr<Session> Network::NewSession(int threads, const std::vector<NamedTensor>& inputs,
                                            uint64_t seed) const {
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> complete, Complete(inputs, seed));
  return Prepare(complete, threads);
}

absl::StatusOr<TimedRuns> Network::Bench(int threads, double seconds, const std::vector<NamedTensor>& inputs,
                                         uint64_t seed) const {
  if (!(seconds >= 0 && seconds <= kMaxBenchSeconds))
    return InvalidInput("the seconds to measure are ", seconds, ", they must be from 0 to ",
                        kMaxBenchSeconds);
  ASSIGN_OR_RETURN(Session session, NewSession(threads, inputs, seed));
  RETURN_IF_ERROR(Name(session.Run(), state_->source));
  TimedRuns runs;
  constexpr size_t kMinRuns = 3;
  RunWatch watch;
  watch.Begin();
  const Stopwatch all;
  while (runs.milliseconds.size() < kMinRuns || all.Seconds() < seconds) {
    const Stopwatch one;
    RETURN_IF_ERROR(Name(session.Run(), state_->source));
    runs.milliseconds.push_back(one.Seconds() * 1e3);
  }
  watch.End();
  runs.times = watch.times();
  runs.waited_share = runs.times.waited_share();
  return runs;
}

absl::StatusOr<ProfileReport> Network::Profile(int threads, int rounds,
                                               const std::vector<NamedTensor>& inputs, uint64_t seed) const {
  ASSIGN_OR_RETURN(Session session, NewSession(threads, inputs, seed));
  absl::StatusOr<ProfileReport> report =
      ProfileSession(session, threads == 0 ? Processors() : threads, rounds);
  if (!report.ok()) return Name(report.status(), state_->source);
  return report;
}

}  // namespace attune
