#include "api/network_seconds.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "api/network.h"
#include "base/clock.h"
#include "base/quantile.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr size_t kMinRounds = 5, kMaxRounds = 200;
constexpr double kSeconds = 1;

}  // namespace

absl::StatusOr<std::array<double, 2>> CompareSeconds(const Graph& first, const Graph& second, int threads,
                                                     const WorkControl& control) {
  std::vector<Session> sessions;
  for (const Graph* graph : {&first, &second}) {
    CompileOptions options;
    options.control = control;
    const Network network = Network::FromGraph(*graph, "the network").Optimize().Compile(options);
    ASSIGN_OR_RETURN(Session session, network.NewSession(threads));
    RETURN_IF_ERROR(session.Run());
    sessions.push_back(std::move(session));
  }
  std::array<std::vector<double>, 2> seconds;
  const Stopwatch all;
  while (seconds[0].size() < kMinRounds || (seconds[0].size() < kMaxRounds && all.Seconds() < kSeconds)) {
    RETURN_IF_ERROR(control.Continue("comparing the speed"));
    for (size_t i = 0; i < sessions.size(); ++i) {
      const Stopwatch one;
      RETURN_IF_ERROR(sessions[i].Run());
      seconds[i].push_back(one.Seconds());
    }
  }
  return std::array{QuantileOf(seconds[0], 0.5), QuantileOf(seconds[1], 0.5)};
}

}  // namespace attune
