// Runs an artifact on zeros: run_artifact MODEL.atn
#include <attune/attune.hpp>
#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s MODEL.atn\n", argv[0]);
    return 2;
  }
  try {
    const attune::runtime::Model model(argv[1]);
    attune::runtime::Session session(model);
    session.run();
    for (size_t i = 0; i < model.num_outputs(); ++i)
      std::printf("%s: %zu bytes\n", model.output(i).name, session.output(i).bytes.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
