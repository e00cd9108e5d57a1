// Measures the cost model:
//
//   cost_model_bench RECORDS [CANDIDATES]
//
// builds and times random candidates of some common groups, this many of each (default 60), writes them to
// the file RECORDS, or reads that where it exists, and prints how well the model orders them:
//
//   seen    by Kendall's tau, the mean of all groups, on candidates that it has not seen, after it has
//   learned
//           from as many others of every group;
//   unseen  on the candidates of a group after it has learned from those of all other groups;
//   best 8  what the fastest of the eight that it ranks first in that group reaches of the fastest of all;
//
// then how long features, learning and predicting take.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/random.h"
#include "base/status.h"
#include "codegen/codegen.h"
#include "codegen/host_code.h"
#include "device/host.h"
#include "graph/text.h"
#include "lower/strategy.h"
#include "target/target.h"
#include "tune/cost_model/cost_model.h"
#include "tune/cost_model/rank_correlation.h"

namespace attune {
namespace {

// A convolution with bias and ReLU, or a matrix product where `kernel` is 0: [size, channels] × [channels,
// out].
struct Group {
  const char* name;
  int64_t channels, size, out, kernel, stride, group;
};

constexpr Group kGroups[] = {
    {"3x3 64, 56x56", 64, 56, 64, 3, 1, 1},
    {"3x3 128, 28x28", 128, 28, 128, 3, 1, 1},
    {"3x3 256, 14x14", 256, 14, 256, 3, 1, 1},
    {"3x3 512, 7x7", 512, 7, 512, 3, 1, 1},
    {"1x1 64 to 256, 56x56", 64, 56, 256, 1, 1, 1},
    {"1x1 256 to 1024, 14x14", 256, 14, 1024, 1, 1, 1},
    {"1x1 512 to 256, 28x28", 512, 28, 256, 1, 1, 1},
    {"3x3 128, 56x56, /2", 128, 56, 128, 3, 2, 1},
    {"depthwise 3x3 96, 56x56", 96, 56, 96, 3, 1, 96},
    {"depthwise 5x5 144, 28x28", 144, 28, 144, 5, 1, 144},
    {"128x768 by 768x768", 768, 128, 768, 0, 1, 1},
    {"197x768 by 768x3072", 768, 197, 3072, 0, 1, 1},
};

std::string TextOf(const Group& g) {
  if (g.kernel == 0) {
    return absl::StrCat("graph @g(%a: f32[", g.size, ",", g.channels, "], %b: f32[", g.channels, ",", g.out,
                        "]) {\n%y = matmul(%a, %b) : f32[", g.size, ",", g.out, "]\nreturn \"\": %y\n}");
  }
  const std::string type =
      absl::StrCat("f32[1,", g.out, ",", g.size / g.stride, ",", g.size / g.stride, "]{c1/16}");
  const int64_t pad = g.kernel / 2;
  return absl::StrCat("graph @g(%x: f32[1,", g.channels, ",", g.size, ",", g.size, "]{c1/16}, %w: f32[",
                      g.out, ",", g.channels / g.group, ",", g.kernel, ",", g.kernel, "], %b: f32[", g.out,
                      "]) {\n%y = conv(%x, %w, %b) {group = ", g.group, ", pads = [", pad, ", ", pad, ", ",
                      pad, ", ", pad, "], strides = [", g.stride, ", ", g.stride, "]} : ", type,
                      "\n%z = relu(%y) : ", type, "\nreturn \"\": %z\n}");
}

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Sample {
  size_t group = 0;
  std::string strategy;
  Config config;
  double seconds = 0;
};

absl::StatusOr<LoopNest> Lower(const Graph& region, const Sample& sample, const Target& target) {
  ASSIGN_OR_RETURN(Workload workload, AnalyzeGroup(region, "group"));
  ASSIGN_OR_RETURN(const ScheduledGroup group,
                   ScheduleBy(*FindStrategy(sample.strategy), std::move(workload), sample.config, target));
  std::set<std::string> prepared;
  for (const auto& [stage, input] : group.schedule.Prepackings()) prepared.insert(stage);
  ASSIGN_OR_RETURN(LoopNest nest, group.schedule.Lower(prepared));
  RETURN_IF_ERROR(VerifyLoopNest(nest));
  return nest;
}

struct AlignedFree {
  void operator()(void* p) const { std::free(p); }
};

// The least of several executions on one thread.
absl::StatusOr<double> Time(const LoopNest& nest, const Target& target) {
  ASSIGN_OR_RETURN(const CompiledKernel kernel,
                   CompileKernel(nest, target, {.may_alias = {}, .keep_text = false}));
  ASSIGN_OR_RETURN(const LinkedCode code, Link({&kernel.object}));
  ASSIGN_OR_RETURN(const HostCode host, HostCode::Map(code));
  std::vector<std::unique_ptr<void, AlignedFree>> memory;
  std::vector<void*> buffers;
  const auto allocate = [&](int64_t bytes) {
    const auto size = static_cast<size_t>((bytes + 191) / 64 * 64);
    memory.emplace_back(std::aligned_alloc(64, size));
    std::fill_n(static_cast<float*>(memory.back().get()), size / 4, 0.01f);
    return memory.back().get();
  };
  for (const LoopNest::Param& param : nest.params)
    buffers.push_back(allocate(param.buffer->num_elements() * DTypeSize(param.buffer->dtype)));
  void* scratch = allocate(kernel.scratch_bytes);
  double best = 1e9;
  const double end = Seconds() + 0.03;
  for (int i = 0; i < 3 || Seconds() < end; ++i) {
    const double start = Seconds();
    for (const KernelPhase& phase : kernel.phases)
      host.Find(phase.symbol)(buffers.data(), nullptr, scratch, 0, 1);
    best = std::min(best, Seconds() - start);
  }
  return best;
}

std::vector<Sample> Measure(const std::vector<std::unique_ptr<Graph>>& graphs, int count,
                            const Target& target) {
  std::vector<Sample> samples;
  Random random(1);
  for (size_t g = 0; g < graphs.size(); ++g) {
    std::vector<Sample> candidates;
    for (const Strategy& strategy : AllStrategies()) {
      const absl::StatusOr<Workload> workload = AnalyzeGroup(*graphs[g], "group");
      if (!workload.ok() || !strategy.why_not(*workload, target).empty() || strategy.name == "loops")
        continue;
      const std::vector<Knob> knobs = strategy.space(*workload, target);
      Config config = strategy.analytic_default(*workload, target);
      for (int i = 0; i < 40 * count; ++i) {
        const Sample sample{g, std::string(strategy.name), config};
        const bool is_new = std::ranges::none_of(candidates, [&](const Sample& s) {
          return s.strategy == sample.strategy && s.config == sample.config;
        });
        if (is_new && Lower(*graphs[g], sample, target).ok()) candidates.push_back(sample);
        for (const Knob& knob : knobs) config[knob.name] = knob.values[random.Next() % knob.values.size()];
      }
    }
    for (int left = count; left > 0 && !candidates.empty();) {
      const auto chosen = random.Next() % candidates.size();
      Sample sample = candidates[chosen];
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(chosen));
      const absl::StatusOr<double> seconds = Time(*Lower(*graphs[g], sample, target), target);
      if (!seconds.ok()) continue;
      sample.seconds = *seconds;
      samples.push_back(sample);
      --left;
    }
    std::fprintf(stderr, "measured group %zu\n", g);
  }
  return samples;
}

std::vector<Sample> ReadSamples(std::istream& in) {
  std::vector<Sample> samples;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Sample& sample = samples.emplace_back();
    words >> sample.group >> sample.strategy >> sample.seconds;
    std::string name;
    for (int64_t value = 0; words >> name >> value;) sample.config[name] = value;
  }
  return samples;
}

void WriteSamples(const std::vector<Sample>& samples, const std::string& path) {
  std::ofstream out(path);
  for (const Sample& sample : samples) {
    out << sample.group << ' ' << sample.strategy << ' ' << sample.seconds;
    for (const auto& [name, value] : sample.config) out << ' ' << name << ' ' << value;
    out << '\n';
  }
}

TaskSamples EveryOther(const TaskSamples& all, size_t first) {
  TaskSamples part;
  for (size_t i = first; i < all.features.size(); i += 2) {
    part.features.push_back(all.features[i]);
    part.throughput.push_back(all.throughput[i]);
  }
  return part;
}

// The best throughput among the eight of the highest scores.
double BestOfEight(const TaskSamples& task, const std::vector<float>& scores) {
  std::vector<size_t> order(scores.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(
      order, [&](size_t a, size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  double best = 0;
  for (size_t i = 0; i < std::min<size_t>(8, order.size()); ++i)
    best = std::max<double>(best, task.throughput[order[i]]);
  return best;
}

// How well one group is ordered.
struct Quality {
  double seen = 0, unseen = 0, best = 0;
};

absl::StatusOr<std::vector<Quality>> Evaluate(const std::vector<TaskSamples>& tasks) {
  const std::unique_ptr<CostModel> model = MakeBoostedTrees();
  std::vector<Quality> qualities(tasks.size());
  for (size_t half : {0, 1}) {
    std::vector<TaskSamples> known;
    for (const TaskSamples& task : tasks) known.push_back(EveryOther(task, half));
    RETURN_IF_ERROR(model->Update(known));
    for (size_t i = 0; i < tasks.size(); ++i) {
      const TaskSamples other = EveryOther(tasks[i], 1 - half);
      ASSIGN_OR_RETURN(const std::vector<float> scores, model->Predict(other.features));
      qualities[i].seen += KendallTau(scores, other.throughput).value_or(0) / 2;
    }
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    std::vector<TaskSamples> known = tasks;
    known.erase(known.begin() + static_cast<std::ptrdiff_t>(i));
    RETURN_IF_ERROR(model->Update(known));
    ASSIGN_OR_RETURN(const std::vector<float> scores, model->Predict(tasks[i].features));
    qualities[i].unseen = KendallTau(scores, tasks[i].throughput).value_or(0);
    qualities[i].best = BestOfEight(tasks[i], scores);
  }
  return qualities;
}

absl::Status PrintQuality(const std::vector<TaskSamples>& tasks) {
  ASSIGN_OR_RETURN(const std::vector<Quality> qualities, Evaluate(tasks));
  std::printf("%-24s %6s %7s %7s\n", "group", "seen", "unseen", "best 8");
  Quality mean;
  const auto count = static_cast<double>(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Quality& q = qualities[i];
    std::printf("%-24s %6.2f %7.2f %7.2f\n", kGroups[i].name, q.seen, q.unseen, q.best);
    mean = {mean.seen + q.seen / count, mean.unseen + q.unseen / count, mean.best + q.best / count};
  }
  std::printf("%-24s %6.2f %7.2f %7.2f\n", "mean", mean.seen, mean.unseen, mean.best);
  return absl::OkStatus();
}

absl::Status PrintTimes(const std::vector<TaskSamples>& tasks) {
  const std::unique_ptr<CostModel> model = MakeBoostedTrees();
  double start = Seconds();
  RETURN_IF_ERROR(model->Update(tasks));
  std::printf("learning from all: %.1f ms\n", 1e3 * (Seconds() - start));
  std::vector<FeatureVector> batch;
  for (const TaskSamples& task : tasks) batch.insert(batch.end(), task.features.begin(), task.features.end());
  batch.resize(64, batch.front());
  double best = 1e9;
  for (int i = 0; i < 200; ++i) {
    start = Seconds();
    RETURN_IF_ERROR(model->Predict(batch).status());
    best = std::min(best, Seconds() - start);
  }
  std::printf("predicting 64 candidates: %.3f ms\n", 1e3 * best);
  return absl::OkStatus();
}

absl::Status Run(const std::string& path, int count) {
  ASSIGN_OR_RETURN(const Target target, HostTarget());
  std::vector<std::unique_ptr<Graph>> graphs;
  for (const Group& group : kGroups) {
    ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, ParseGraph(TextOf(group)));
    graphs.push_back(std::move(graph));
  }
  std::ifstream file(path);
  const std::vector<Sample> samples = file ? ReadSamples(file) : Measure(graphs, count, target);
  if (!file) WriteSamples(samples, path);
  if (samples.empty()) return InvalidInput(path, " has no candidates");

  std::vector<TaskSamples> tasks(graphs.size());
  std::vector<double> best(graphs.size(), 1e9);
  for (const Sample& sample : samples)
    best.at(sample.group) = std::min(best.at(sample.group), sample.seconds);
  double lowering = 0, extracting = 0;
  for (const Sample& sample : samples) {
    const double start = Seconds();
    ASSIGN_OR_RETURN(const LoopNest nest, Lower(*graphs[sample.group], sample, target));
    const double lowered = Seconds();
    tasks[sample.group].features.push_back(ExtractFeatures(nest, target, 1));
    lowering += lowered - start;
    extracting += Seconds() - lowered;
    tasks[sample.group].throughput.push_back(static_cast<float>(best[sample.group] / sample.seconds));
  }
  RETURN_IF_ERROR(PrintQuality(tasks));
  const auto n = static_cast<double>(samples.size());
  std::printf("a candidate's loop nest: %.3f ms, its %zu features: %.3f ms\n", 1e3 * lowering / n,
              FeatureNames().size(), 1e3 * extracting / n);
  return PrintTimes(tasks);
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: cost_model_bench RECORDS [CANDIDATES]\n");
    return 2;
  }
  const absl::Status status = attune::Run(argv[1], argc > 2 ? std::atoi(argv[2]) : 60);
  if (!status.ok()) std::fprintf(stderr, "cost_model_bench: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
