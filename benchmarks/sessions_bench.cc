// Counts the inferences that threads reach, each with a session of its own:
//
//   sessions_bench ARTIFACT THREADS SECONDS
//
// prints them, those of all threads together per second. Each inference sets all inputs and reads all
// outputs.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#include "attune/attune.hpp"

namespace attune::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// The inferences of one thread until `end`.
int64_t RunUntil(const Model& model, Clock::time_point end) {
  Session session(model, 1);
  std::vector<std::vector<std::byte>> inputs, outputs;
  for (size_t i = 0; i < model.num_inputs(); ++i) inputs.emplace_back(session.input_bytes(i).size());
  int64_t runs = 0;
  for (; Clock::now() < end; ++runs) {
    for (size_t i = 0; i < inputs.size(); ++i)
      std::memcpy(session.input_bytes(i).data(), inputs[i].data(), inputs[i].size());
    session.run();
    outputs.clear();
    for (size_t i = 0; i < model.num_outputs(); ++i) {
      const Output output = session.output(i);
      outputs.emplace_back(output.bytes.begin(), output.bytes.end());
    }
  }
  return runs;
}

void Print(const char* artifact, int count, double seconds) {
  const Model model(artifact);
  std::atomic<int64_t> runs = 0;
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&] { runs += RunUntil(model, end); });
  for (std::thread& thread : threads) thread.join();
  std::printf("%.3f\n",
              static_cast<double>(runs) / std::chrono::duration<double>(Clock::now() - begin).count());
}

}  // namespace
}  // namespace attune::runtime

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("sessions_bench ARTIFACT THREADS SECONDS\n", stderr);
    return 2;
  }
  try {
    attune::runtime::Print(argv[1], std::atoi(argv[2]), std::atof(argv[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
