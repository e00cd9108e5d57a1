// Runs a compiled network from several threads at once, with the C++ interface and libattune_runtime.so
// alone.
//
//     run_model MODEL.atn [SESSIONS [RUNS]]
//
// Loads the model once; every session has memory of its own and its own random input, and runs in a thread of
// its own. Prints the sum of each session's first output, and how many runs a second they made together.
#include <attune/attune.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace {

void FillRandom(const attune::runtime::Model& model, attune::runtime::Session& session, unsigned seed) {
  std::minstd_rand engine(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  for (size_t i = 0; i < model.num_inputs(); ++i) {
    if (model.input(i).dtype != ATTUNE_F32) continue;  // stays zero
    for (float& value : session.input<float>(i)) value = uniform(engine);
  }
}

void PrintFirstOutput(const attune::runtime::Model& model, const attune::runtime::Session& session,
                      size_t number) {
  const attune::runtime::Output output = session.output(0);
  std::printf("session %zu: %s, %zu bytes", number, model.output(0).name, output.bytes.size());
  if (output.dtype == ATTUNE_F32) {
    const std::span<const float> values = output.as<float>();
    std::printf(", sum %g", std::accumulate(values.begin(), values.end(), 0.0));
  }
  std::printf("\n");
}

void Run(const char* path, size_t num_sessions, int runs) {
  const attune::runtime::Model model(path);
  std::vector<attune::runtime::Session> sessions;
  for (size_t i = 0; i < num_sessions; ++i) {
    FillRandom(model, sessions.emplace_back(model), static_cast<unsigned>(i + 1));
  }
  // A thread reports by its slot: an exception must not leave it.
  std::vector<std::string> failures(num_sessions);
  std::vector<std::thread> threads;
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < num_sessions; ++i) {
    threads.emplace_back([&session = sessions[i], &failure = failures[i], runs] {
      try {
        for (int run = 0; run < runs; ++run) session.run();
      } catch (const attune::runtime::Error& error) {
        failure = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (const std::string& failure : failures) {
    if (!failure.empty()) throw std::runtime_error(failure);
  }
  if (model.num_outputs() > 0) {
    for (size_t i = 0; i < num_sessions; ++i) PrintFirstOutput(model, sessions[i], i);
  }
  std::printf("%.1f runs a second\n", static_cast<double>(num_sessions) * runs / took.count());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s MODEL.atn [SESSIONS [RUNS]]\n", argv[0]);
    return 2;
  }
  const size_t sessions = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2;
  const int runs = argc > 3 ? std::atoi(argv[3]) : 10;
  try {
    Run(argv[1], sessions, runs);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
