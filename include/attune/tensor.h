/* Failures, texts, tensors, and the control of long calls, for attune/compiler.h, whose first lines hold
 * here, too. */
#ifndef ATTUNE_TENSOR_H_
#define ATTUNE_TENSOR_H_

#include <stddef.h>
#include <stdint.h>

#include "attune/attune.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Failures ---- */

typedef struct attune_failure attune_failure;

/* The code that the function has returned, and one sentence that says what is wrong and what to do, or a line
 * for each operator that is not supported. NULL stands for a failure without memory for a text. */
ATTUNE_EXPORT attune_code attune_failure_code(const attune_failure* failure);
ATTUNE_EXPORT const char* attune_failure_message(const attune_failure* failure);
ATTUNE_EXPORT void attune_failure_free(attune_failure* failure);

/* ---- Texts and bytes ---- */

ATTUNE_EXPORT void attune_text_free(char* text);

typedef struct attune_texts {
  size_t count;
  const char* const* items;
} attune_texts;

ATTUNE_EXPORT void attune_texts_free(const attune_texts* texts);

typedef struct attune_bytes {
  size_t count;
  const void* data;
} attune_bytes;

ATTUNE_EXPORT void attune_bytes_free(const attune_bytes* bytes);

/* ---- Tensors ---- */

/* A dense, row-major array in memory, of an input or an output. Stays as it is in later versions. */
typedef struct attune_array {
  const char* name; /* of the input or the output */
  attune_dtype dtype;
  size_t rank;
  const int64_t* shape; /* `rank` sizes */
  const void* data;
  size_t bytes; /* as many as the shape has */
} attune_array;

typedef struct attune_tensor attune_tensor;

/* Zeros, without a name. Fails if a size is negative or the memory cannot be had. */
ATTUNE_EXPORT attune_code attune_tensor_create(attune_dtype dtype, const int64_t* shape, size_t rank,
                                               attune_tensor** tensor, attune_failure** failure);
/* The tensor as an array, which lives as long as the tensor. */
ATTUNE_EXPORT const attune_array* attune_tensor_array(const attune_tensor* tensor);
/* Where to write the elements: 64-byte aligned. */
ATTUNE_EXPORT void* attune_tensor_data(attune_tensor* tensor);
ATTUNE_EXPORT void attune_tensor_free(attune_tensor* tensor);

typedef struct attune_tensors attune_tensors;

ATTUNE_EXPORT size_t attune_tensors_count(const attune_tensors* tensors);
/* Tensor `index`, which belongs to the list. NULL for an index out of range. */
ATTUNE_EXPORT const attune_array* attune_tensors_array(const attune_tensors* tensors, size_t index);
/* The same tensor as one of its own, which the caller frees and which the list no longer has: both functions
 * return NULL for it from now on. */
ATTUNE_EXPORT attune_tensor* attune_tensors_take(attune_tensors* tensors, size_t index);
ATTUNE_EXPORT void attune_tensors_free(attune_tensors* tensors);

/* ---- Following and stopping long calls ---- */

/* Stops calls that are given it. Any thread may request that, once and for good, but no signal handler. NULL
 * is allowed, and stops nothing. */
typedef struct attune_stop attune_stop;

/* NULL if there is no memory. */
ATTUNE_EXPORT attune_stop* attune_stop_create(void);
ATTUNE_EXPORT void attune_stop_request(attune_stop* stop);
/* Not while a call has it. */
ATTUNE_EXPORT void attune_stop_free(attune_stop* stop);

/* The progress of a tuning run. */
typedef struct attune_tuning_progress {
  const char* stage;
  int64_t trials;
  double elapsed_seconds, seconds_left;                /* 0: not known */
  double baseline_kernel_seconds, best_kernel_seconds; /* sums over the network's kernels */
} attune_tuning_progress;

/* How a caller follows a call. Any member may be NULL; what a callback is given lives until it returns. */
typedef struct attune_control {
  size_t struct_bytes; /* sizeof(attune_control): lets later versions add members */
  void* context;       /* the first argument of the callbacks */
  /* Called when `done` of `total` units of `what` ("compiling kernels") are done; a total of 0 means that it
   * is not known. Called often, and by several threads at once. Not by attune_network_tune(). */
  void (*progress)(void* context, const char* what, int64_t done, int64_t total);
  /* Called by attune_network_tune() after each event; one call at a time. */
  void (*tuning_progress)(void* context, const attune_tuning_progress* progress);
  /* Called with what a person should know although the call continues: by attune_network_picture() if nothing
   * says which numbers the network was trained with. */
  void (*note)(void* context, const char* text);
  /* If a stop is requested, the call fails with ATTUNE_CANCELLED; attune_network_tune() instead finishes its
   * current measurement and ends with the best result so far. */
  const attune_stop* stop;
} attune_control;

#define ATTUNE_CONTROL_INIT {sizeof(attune_control), NULL, NULL, NULL, NULL, NULL}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATTUNE_TENSOR_H_ */
