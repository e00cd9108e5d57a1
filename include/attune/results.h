/* The results of functions of attune/compiler.h about networks. Its first lines hold here, too: the caller
 * frees a result, and all that it points to goes with it. */
#ifndef ATTUNE_RESULTS_H_
#define ATTUNE_RESULTS_H_

#include <stddef.h>
#include <stdint.h>

#include "attune/attune.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An input or an output as the model declares it. */
typedef struct attune_port {
  const char* name;
  attune_dtype dtype;
  size_t rank;
  const int64_t* shape;    /* -1: the model leaves it open */
  const char* const* dims; /* for each size, the size, its name in the model, or "?" */
  const char* text;        /* "f32[N,3,224,224]" */
  int has_shape;           /* 0: the model does not even say how many dimensions there are */
} attune_port;

typedef struct attune_ports {
  size_t count;
  const attune_port* const* items;
} attune_ports;

ATTUNE_EXPORT void attune_ports_free(const attune_ports* ports);

/* A text by a key. Stays as it is in later versions. */
typedef struct attune_entry {
  const char* key;
  const char* value;
} attune_entry;

/* The declarations in a model's file. */
typedef struct attune_declaration {
  size_t num_inputs;
  const attune_port* const* inputs;
  int is_compiled; /* whether it is an artifact */
  /* A line for each operator that Attune lacks, if the model leaves sizes open, and otherwise empty; loading
   * another one tells. */
  const char* unsupported;
  /* The other files that it consists of, relative to its folder; none for a folder, which has all. */
  size_t num_files;
  const char* const* files;
  /* ONNX models and artifacts have them; sizes in which an artifact's sets of shapes differ are open. */
  size_t num_outputs;
  const attune_port* const* outputs;
  /* The rest is that of an ONNX model, and empty for others. */
  /* "producer_name", "producer_version", "domain", "description", "version", "graph_name" and
   * "graph_description". */
  size_t num_about;
  const attune_entry* about;
  size_t num_metadata;
  const attune_entry* metadata; /* of its author */
} attune_declaration;

ATTUNE_EXPORT void attune_declaration_free(const attune_declaration* declaration);

/* How an output differs from that of the reference interpreter. */
typedef struct attune_check {
  const char* name;
  const char* criterion; /* "absolute 1.2e-06 + relative 1e-04" */
  double max_absolute_error, max_relative_error;
  int64_t elements, mismatches;
  int ok;
} attune_check;

typedef struct attune_checks {
  size_t count;
  const attune_check* const* items;
} attune_checks;

ATTUNE_EXPORT void attune_checks_free(const attune_checks* checks);

typedef struct attune_run_times {
  size_t count;
  const double* milliseconds; /* of each run */
  /* A sentence with numbers if other programs had the processors for a part of the time, so that the times
   * are too long; otherwise empty. */
  const char* disturbance;
} attune_run_times;

ATTUNE_EXPORT void attune_run_times_free(const attune_run_times* times);

typedef struct attune_kernel_time {
  const char* op; /* "conv+bias+relu" */
  size_t num_labels;
  const char* const* labels; /* the nodes that it computes */
  const char* strategy;
  int64_t calls;
  double seconds, share; /* of one inference; of all kernels, 0 to 1 */
  double gflops_per_second, gb_per_second;
  double peak_share, roofline_share;
} attune_kernel_time;

/* The slowest first. */
typedef struct attune_kernel_times {
  size_t count;
  const attune_kernel_time* const* items;
  const char* disturbance; /* as in attune_run_times */
} attune_kernel_times;

ATTUNE_EXPORT void attune_kernel_times_free(const attune_kernel_times* times);

typedef struct attune_network_size {
  uint64_t file_bytes, code_bytes;
  uint64_t weight_bytes, stored_weight_bytes; /* in memory, in the file */
  uint64_t arena_bytes, scratch_bytes;        /* of each session, and of each of its threads */
  size_t num_cpus;
  const char* const* cpus;
} attune_network_size;

ATTUNE_EXPORT void attune_network_size_free(const attune_network_size* sizes);

/* The result of attune_network_quantize(). */
typedef struct attune_quantization {
  double agreement; /* with the network in fp32, 0 to 1, on samples that did not calibrate it */
  /* The seconds of one inference, measured interleaved on this machine; 0: not measured. */
  double baseline_seconds, quantized_seconds;
  int is_slower;
  const char* verdict; /* the same as a sentence, with the reason; empty if the times were not measured */
} attune_quantization;

ATTUNE_EXPORT void attune_quantization_free(const attune_quantization* result);

/* A kernel of a network that tuning chooses. */
typedef struct attune_task {
  const char* description;
  int64_t uses; /* in the network */
  int64_t trials, failed_trials;
  int64_t transferred_trials;            /* of earlier runs, which count too */
  double baseline_seconds, best_seconds; /* of one execution; 0: not measured */
  const char* best_config;               /* empty: that of the baseline */
} attune_task;

/* The time of one inference, as the sum of its kernels, after `trials` trials. */
typedef struct attune_tuning_point {
  double elapsed_seconds;
  int64_t trials;
  double network_seconds;
} attune_tuning_point;

typedef struct attune_stage_time {
  const char* stage;
  double seconds;
} attune_stage_time;

/* The report of attune_network_tune(). */
typedef struct attune_tuning {
  const char* run; /* its id in the records */
  int64_t trials;
  double elapsed_seconds;
  /* The times of one inference, measured interleaved; 0: nothing faster was found, and so nothing was
   * measured. */
  double baseline_seconds, tuned_seconds;
  int was_stopped;
  const char* records;     /* the database */
  const char* fingerprint; /* the device's */
  int threads;             /* of one inference */
  size_t num_tasks;
  const attune_task* const* tasks;
  size_t num_points;
  const attune_tuning_point* const* curve;
  size_t num_stages;
  const attune_stage_time* const* stages;
} attune_tuning;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATTUNE_RESULTS_H_ */
