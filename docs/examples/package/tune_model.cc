// The whole way in C++: quantizes a model, tunes it for some trials, compiles and runs it.
//
//   tune_model MODEL OUT.atn [TRIALS]
//
// Ctrl-C ends tuning, and keeps what it has found.
#include <algorithm>
#include <attune/compiler.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace ac = attune::compiler;

namespace {

volatile std::sig_atomic_t is_interrupted = 0;

// Typical inputs; a real program reads some hundred pictures.
std::vector<ac::NamedTensors> Samples(const ac::Network& network) {
  std::vector<ac::NamedTensors> samples;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    ac::NamedTensors& sample = samples.emplace_back();
    for (const ac::InputInfo& input : network.inputs())
      sample.push_back(network.random_input(input.name, seed));
  }
  return samples;
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Tunes until the limit or an interrupt.
ac::Network Tune(const ac::Network& network, int64_t trials, const std::string& records) {
  std::stop_source stop;
  // A signal handler may not request a stop itself.
  const std::jthread watcher([&stop](const std::stop_token& ends) {
    while (!ends.stop_requested()) {
      if (is_interrupted != 0) stop.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  return network.tune({.trials = trials,
                       .records = records,
                       .progress =
                           [](const ac::TuningProgress& progress) {
                             std::fprintf(stderr, "\r%lld trials, %-20s",
                                          static_cast<long long>(progress.trials), progress.stage.c_str());
                           },
                       .stop = stop.get_token()});
}

void Run(const std::string& model, const std::string& artifact, int64_t trials) {
  const ac::Network loaded = ac::Network::load(model);
  const ac::Network quantized = loaded.quantize(Samples(loaded));
  const ac::Network tuned = Tune(quantized, trials, artifact + ".db");
  tuned.save(artifact);
  std::printf("\n%s: %lld trials, %.3f ms as it was, %.3f ms now, %llu bytes\n", artifact.c_str(),
              static_cast<long long>(tuned.tuning().trials), Median(loaded.bench(0.5)),
              Median(tuned.bench(0.5)), static_cast<unsigned long long>(tuned.sizes().file_bytes));
  for (const ac::OutputCheck& check : tuned.verify())
    std::printf("%s: %s (%s)\n", check.name.c_str(), check.ok ? "as the reference has it" : "wrong",
                check.criterion.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--build-id") {
    std::printf("%s\n", ac::build_id().c_str());
    return 0;
  }
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: %s MODEL OUT.atn [TRIALS]\n", argv[0]);
    return 2;
  }
  std::signal(SIGINT, [](int) { is_interrupted = 1; });
  try {
    Run(argv[1], argv[2], argc == 4 ? std::atoll(argv[3]) : 100);
  } catch (const ac::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
