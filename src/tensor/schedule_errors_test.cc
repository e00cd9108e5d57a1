// Every error of every primitive, each of which leaves the schedule as it was.
#include <gtest/gtest.h>

#include "tensor/schedule.h"
#include "tensor/testing/definitions.h"

namespace attune {
namespace {

using Trace = std::vector<Primitive>;

struct Case {
  Trace before;  // applies
  Primitive primitive;
  const char* message;
};

void Check(ComputeDef (*make)(), const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    auto schedule = Schedule::Replay(make(), c.before);
    ASSERT_TRUE(schedule.ok()) << schedule.status() << " before: " << c.message;
    const std::string before = Print(*schedule->Lower());
    EXPECT_EQ(std::string(schedule->Apply(c.primitive).message()), c.message);
    EXPECT_EQ(schedule->trace(), c.before) << c.message;
    EXPECT_EQ(Print(*schedule->Lower()), before) << c.message;
  }
}

TEST(ScheduleErrors, Loops) {
  const Primitive at = {"compute_at", {"c", "out.i"}, {1}};
  const int64_t huge = int64_t{1} << 30;
  Check(
      [] { return MatMulRelu(5, 7, 6); },
      {
          {{}, {"spilt", {}, {}}, "no schedule primitive 'spilt'"},
          {{}, {"split", {"c.i"}, {}}, "schedule primitive 'split': wrong number of arguments"},
          {{}, {"split", {"d.i"}, {2}}, "no loop 'd.i'"},
          {{}, {"split", {"c.i"}, {0}}, "split: factor 0 of loop 'c.i' is not positive"},
          {{}, {"split", {"c.i"}, {huge + 1}}, "split: factor 1073741825 of loop 'c.i' is too large"},
          {{}, {"split_overlapping", {"c.i"}, {6}}, "split_overlapping: factor 6 of loop 'c.i' is too large"},
          {{at}, {"split", {"out.i"}, {2}}, "split: stage 'c' is computed at 'out.i'"},
          {{{"unroll", {"c.i"}, {}}},
           {"split", {"c.i"}, {2}},
           "split: loop 'c.i' is marked or peeled already"},
          {{{"peel", {"c.i"}, {1, 0}}},
           {"split", {"c.i"}, {2}},
           "split: loop 'c.i' is marked or peeled already"},
          {{}, {"fuse", {"c.i", "c.k", "x"}, {}}, "fuse: 'c.k' is not directly inside 'c.i'"},
          {{}, {"fuse", {"c.i", "out.j", "x"}, {}}, "fuse: 'out.j' is not directly inside 'c.i'"},
          {{}, {"fuse", {"c.j", "c.k", "x"}, {}}, "fuse: only one of 'c.j' and 'c.k' reduces"},
          {{at}, {"fuse", {"out.i", "out.j", "x"}, {}}, "fuse: stage 'c' is computed at 'out.i'"},
          {{{"unroll", {"c.j"}, {}}},
           {"fuse", {"c.i", "c.j", "x"}, {}},
           "fuse: loop 'c.j' is marked or peeled already"},
          {{{"split", {"c.i"}, {huge}}, {"split", {"c.j"}, {huge}}, {"reorder", {"c.j.o", "c.i.i"}, {}}},
           {"fuse", {"c.i.i", "c.j.i", "x"}, {}},
           "fuse: 'c.i.i' and 'c.j.i' have too many iterations"},
          {{}, {"fuse", {"c.i", "c.j", "out.j"}, {}}, "fuse: there is a loop 'out.j' already"},
          {{}, {"reorder", {"c.i", "out.j"}, {}}, "reorder: 'out.j' belongs to another stage"},
          {{}, {"reorder", {"c.i", "c.i"}, {}}, "reorder: a loop is named twice"},
          {{at}, {"reorder", {"out.j", "out.i"}, {}}, "reorder: stage 'c' is computed at 'out.i'"},
          {{{"parallel", {"c.i"}, {}}},
           {"reorder", {"c.j", "c.i"}, {}},
           "reorder: parallel loop 'c.i' would not be outermost"},
          {{{"unroll", {"c.i"}, {}}}, {"vectorize", {"c.i"}, {}}, "vectorize: loop 'c.i' is marked already"},
          {{}, {"parallel", {"c.k"}, {}}, "parallel: loop 'c.k' reduces"},
          {{}, {"parallel", {"c.j"}, {}}, "parallel: loop 'c.j' is not the outermost loop of a root stage"},
          {{at}, {"parallel", {"c.i"}, {}}, "parallel: loop 'c.i' is not the outermost loop of a root stage"},
          {{{"peel", {"c.i"}, {1, 0}}}, {"parallel", {"c.i"}, {}}, "parallel: loop 'c.i' is peeled"},
          {{}, {"dot", {"c.j"}, {}}, "dot: loop 'c.j' does not reduce"},
          {{}, {"matrix", {"c.k"}, {}}, "matrix: loop 'c.k' reduces"},
          {{}, {"matrix", {"c.i"}, {}}, "matrix: loop 'c.j' inside of 'c.i' is not marked"},
          {{}, {"dot", {"c.k"}, {}}, "dot: loop 'c.k' is not the innermost, directly in a vectorized one"},
          {{}, {"peel", {"c.i"}, {-1, 0}}, "peel: negative count"},
          {{{"unroll", {"c.i"}, {}}}, {"peel", {"c.i"}, {1, 1}}, "peel: loop 'c.i' is not serial"},
          {{}, {"prefetch", {"b", "out.i"}, {}}, "prefetch: stage 'out' does not read 'b'"},
          {{{"unroll", {"c.k"}, {}}}, {"prefetch", {"b", "c.k"}, {}}, "prefetch: loop 'c.k' is not serial"},
          {{},
           {"prefetch_next_tile", {"b", "c.k"}, {}},
           "prefetch_next_tile: stage 'c' is not computed at a loop"},
      });
}

TEST(ScheduleErrors, Stages) {
  const Primitive at = {"compute_at", {"c", "out.i"}, {1}};
  Check(
      [] { return MatMulRelu(5, 7, 6); },
      {
          {{}, {"inline", {"d"}, {}}, "no stage 'd'"},
          {{}, {"inline", {"c"}, {}}, "inline: stage 'c' is not a formula"},
          {{}, {"inline", {"out"}, {}}, "inline: stage 'out' is an output"},
          {{}, {"compute_at", {"out", "c.i"}, {1}}, "compute_at: stage 'out' is an output"},
          {{}, {"compute_at", {"c", "c.i"}, {1}}, "compute_at: 'c.i' is a loop of the stage itself"},
          {{},
           {"compute_at", {"c", "out.i"}, {0}},
           "compute_at: no memory space 0 for a stage that is computed at a loop"},
          {{at}, {"compute_at", {"c", "out.j"}, {1}}, "compute_at: stage 'c' is computed at a loop already"},
          {{{"cache_read", {"b", "c"}, {}}, {"cache_write", {"out"}, {}}},
           {"compute_at", {"b.c", "out.i"}, {1}},
           "compute_at: stage 'b.c' is also read outside of 'out.i'"},
          {{at}, {"cache_write", {"c"}, {}}, "cache_write: stage 'c' is computed at a loop already"},
          {{at}, {"cache_write", {"out"}, {}}, "cache_write: stage 'c' is computed at 'out.i'"},
          {{{"cache_write", {"c"}, {}}},
           {"cache_write", {"c"}, {}},
           "cache_write: there is a stage 'c.acc' already"},
          {{}, {"cache_read", {"out", "c"}, {}}, "cache_read: stage 'c' does not read 'out'"},
          {{at}, {"cache_read", {"c", "out"}, {}}, "cache_read: 'c' is computed at a loop"},
          {{}, {"rfactor", {"c", "c.i"}, {-1}}, "rfactor: 'c.i' is not a reduce loop of stage 'c'"},
          {{}, {"rfactor", {"c", "c.k"}, {-1}}, "rfactor: 'c.k' is the only reduce loop"},
          {{}, {"rfactor", {"c", "c.k"}, {3}}, "rfactor: stage 'c' can have no axis 3 more"},
          {{{"split", {"c.k"}, {2}}, at},
           {"rfactor", {"c", "c.k"}, {-1}},
           "rfactor: stage 'c' is computed at a loop already"},
          {{}, {"pack", {"out", "c"}, {0, 0, 1}}, "pack: stage 'c' does not read 'out'"},
          {{}, {"pack", {"a", "c"}, {}}, "pack: wrong number of arguments for a buffer of rank 2"},
          {{}, {"pack", {"a", "c"}, {-1, 0, 1}}, "pack: wrong number of arguments for a buffer of rank 2"},
          {{}, {"pack", {"a", "c"}, {1, 2, 4, 0, 1, 2}}, "pack: no axis 2 or bad block 4"},
          {{}, {"pack", {"a", "c"}, {1, 0, 0, 0, 1, 2}}, "pack: no axis 0 or bad block 0"},
          {{}, {"pack", {"a", "c"}, {0, 1, 1}}, "pack: the order is not a permutation"},
          {{at}, {"pack", {"c", "out"}, {0, 1, 0}}, "pack: 'c' is computed at a loop"},
          {{{"cache_read", {"a", "c"}, {}}, {"pack", {"a", "a.c"}, {0, 1, 0}}},
           {"pack", {"a.packed", "a.c"}, {0, 0, 0}},
           "pack: the order is not a permutation"},
          {{}, {"overcompute", {"c"}, {}}, "overcompute: stage 'c' is not computed at a loop"},
          {{at, {"split", {"c.j"}, {4}}},
           {"overcompute", {"c"}, {}},
           "overcompute: stage 'c' would read beyond axis 1 of 'b'"},
      });
}

TEST(ScheduleErrors, WhatFollows) {
  const Primitive after = {"compute_after", {"out", "c.i"}, {}};
  Check(
      [] { return MatMulRelu(5, 7, 6); },
      {
          {{}, {"compute_after", {"c", "out.i"}, {}}, "compute_after: stage 'c' is not computed after 'out'"},
          {{after}, after, "compute_after: stage 'out' is computed at a loop already"},
          {{{"compute_at", {"c", "out.i"}, {1}}},
           {"compute_after", {"out", "c.i"}, {}},
           "compute_after: stage 'c' is computed at a loop already"},
          {{{"reorder", {"c.k", "c.i"}, {}}},
           {"compute_after", {"out", "c.i"}, {}},
           "compute_after: loop 'c.k' around the elements of 'c' reduces"},
          {{{"split", {"c.j"}, {4}}, {"reorder", {"c.i", "c.j.o", "c.k", "c.j.i"}, {}}},
           {"compute_after", {"out", "c.j.o"}, {}},
           "compute_after: an iteration of 'c.j.o' computes a part of axis 'j'"},
          {{{"split", {"out.i"}, {2}}},
           after,
           "compute_after: loops of stage 'out' are split or fused already"},
          {{{"parallel", {"out.i"}, {}}}, after, "compute_after: loop 'out.i' is parallel"},
          {{{"cache_write", {"out"}, {}}, {"cache_read", {"c", "out.acc"}, {}}},
           {"compute_after", {"out.acc", "c.i"}, {}},
           "compute_after: stage 'out.acc' reads what 'c.out.acc' computes later"},
          {{{"cache_read", {"a", "c"}, {}}},
           {"compute_after", {"out", "a.c.i0"}, {}},
           "compute_after: stage 'out' reads what 'c' computes later"},
          {{after},
           {"cache_read", {"c", "out"}, {}},
           "cache_read: stage 'out' is computed after another one"},
          {{after}, {"pack", {"c", "out"}, {0, 1, 0}}, "pack: stage 'out' is computed after another one"},
          {{after}, {"reorder", {"c.i", "c.j"}, {}}, "reorder: stage 'out' is computed at 'c.i'"},
      });
  Check([] { return PaddedConv(8, 1); },
        {{{},
          {"compute_after", {"conv", "pad.p"}, {}},
          "compute_after: stage 'conv' does not read axis 0 of 'pad' by an axis of its own"},
         {{},
          {"compute_after", {"out", "pad.p"}, {}},
          "compute_after: stage 'out' reads what 'conv' computes later"}});
}

TEST(ScheduleErrors, WhatImperativeStagesReadStays) {
  Check(
      [] {
        ComputeDef def = PaddedConv(4, 1);
        Stage tail;
        tail.name = "tail";
        tail.output = MakeBuffer("tail", DType::kF32, {});
        tail.body = MakeStore(tail.output, {}, Load(def.stages[0].output, {0}));
        def.stages.push_back(tail);
        def.params.push_back({tail.output, BufferRole::kOutput});
        return def;
      },
      {
          {{}, {"inline", {"pad"}, {}}, "inline: stage 'pad' is read by imperative stage 'tail'"},
          {{},
           {"compute_at", {"pad", "conv.w"}, {1}},
           "compute_at: stage 'pad' is read by imperative stage 'tail'"},
          {{}, {"inline", {"tail"}, {}}, "inline: stage 'tail' is not a formula"},
          {{}, {"cache_write", {"tail"}, {}}, "cache_write: stage 'tail' is imperative"},
      });
}

TEST(Trace, RoundTrip) {
  const Trace trace = {
      {"split", {"c.i"}, {4}}, {"reorder", {"c.k", "c.j"}, {}}, {"pack", {"a", "c"}, {0, 1, 0}}};
  EXPECT_EQ(ToJson(trace), R"([
 {"op":"split","names":["c.i"],"numbers":[4]},
 {"op":"reorder","names":["c.k","c.j"],"numbers":[]},
 {"op":"pack","names":["a","c"],"numbers":[0,1,0]}
]
)");
  EXPECT_EQ(*ParseTrace(ToJson(trace)), trace);
  EXPECT_EQ(*ParseTrace(ToJson({})), Trace());
}

TEST(Trace, RefusesOtherText) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "schedule: not a JSON list of primitives"},
      {"{}", "schedule: not a JSON list of primitives"},
      {"[1]", "schedule: primitive 0 has no \"op\""},
      {R"([{"op": "split"}, {"op": 3}])", "schedule: primitive 1 has no \"op\""},
      {R"([{"op": "split", "names": [3]}])", "schedule: primitive 0: names must be strings"},
      {R"([{"op": "split", "numbers": [0.5]}])", "schedule: primitive 0: numbers must be integers"},
      {R"([{"op": "split", "names": 3}])", "schedule: primitive 0: names must be strings"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(std::string(ParseTrace(text).status().message()), message) << text;
  }
}

}  // namespace
}  // namespace attune
