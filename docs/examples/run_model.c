/* Runs a compiled network with the C interface and libattune_runtime.so alone.
 *
 *     run_model MODEL.atn [THREADS [INPUT ...]]
 *
 * Each INPUT is a file with the raw bytes of one input, in the model's order. Inputs without a file are
 * random in [-1, 1) where they are f32, and else zero. Prints, for every output, its five largest values and
 * their sum, and at last how long a run took. */
#include <attune/attune.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void fill_random(float* values, size_t count) {
  uint32_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u; /* Numerical Recipes' generator */
    values[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
  }
}

/* Reads exactly `bytes` bytes; 0 where the file has another size or cannot be read. */
static int fill_from_file(void* data, size_t bytes, const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return 0;
  const int ok = fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF;
  fclose(file);
  return ok;
}

static int fill_inputs(const attune_model* model, attune_session* session, int files, char** paths,
                       attune_error* error) {
  for (size_t i = 0; i < attune_model_num_inputs(model); ++i) {
    attune_tensor_info info;
    if (attune_model_input(model, i, &info, error)) return 0;
    void* data = attune_session_input(session, i);
    if (i < (size_t)files) {
      if (!fill_from_file(data, info.bytes, paths[i])) {
        snprintf(error->message, sizeof(error->message),
                 "%s: not a file of the %zu bytes that input %s takes", paths[i], info.bytes, info.name);
        return 0;
      }
    } else if (info.dtype == ATTUNE_F32) {
      fill_random(data, info.bytes / sizeof(float));
    }
  }
  return 1;
}

static void print_top(const float* values, size_t count) {
  double sum = 0;
  size_t top[5];
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += values[i];
    if (kept == 5 && !(values[i] > values[top[4]])) continue;
    size_t at = kept < 5 ? kept++ : 4;
    for (; at > 0 && values[i] > values[top[at - 1]]; --at) top[at] = top[at - 1];
    top[at] = i;
  }
  for (size_t i = 0; i < kept; ++i) printf("  %8zu  %g\n", top[i], values[top[i]]);
  printf("  sum       %g\n", sum);
}

static int print_outputs(const attune_model* model, attune_session* session, attune_error* error) {
  for (size_t i = 0; i < attune_model_num_outputs(model); ++i) {
    attune_tensor_info info;
    attune_output output;
    if (attune_model_output(model, i, &info, error)) return 0;
    if (attune_session_output(session, i, &output, error)) return 0;
    printf("%s: %s[", info.name, attune_dtype_name(output.dtype));
    for (size_t d = 0; d < output.rank; ++d) printf("%s%lld", d ? "," : "", (long long)output.shape[d]);
    printf("]\n");
    if (output.dtype == ATTUNE_F32) print_top(output.data, output.bytes / sizeof(float));
  }
  return 1;
}

static double milliseconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* Runs once to warm up and once for the clock. */
static int run(const attune_model* model, attune_session* session, attune_error* error) {
  if (attune_session_run(session, error)) return 0;
  const double start = milliseconds();
  if (attune_session_run(session, error)) return 0;
  const double took = milliseconds() - start;
  if (!print_outputs(model, session, error)) return 0;
  printf("%.3f ms\n", took);
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s MODEL.atn [THREADS [INPUT ...]]\n", argv[0]);
    return 2;
  }
  attune_model* model = NULL;
  attune_session* session = NULL;
  attune_error error;
  const int files = argc > 3 ? argc - 3 : 0;
  const size_t threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
  const int ok = !attune_load(argv[1], NULL, &model, &error) &&
                 !attune_session_create(model, threads, &session, &error) &&
                 fill_inputs(model, session, files, argv + 3, &error) && run(model, session, &error);
  if (!ok) fprintf(stderr, "%s\n", error.message);
  attune_session_free(session);
  attune_model_free(model);
  return ok ? 0 : 1;
}
