/* Compiles a model with the C interface of libattune.so: from its file to an artifact that is checked.
 *
 *     compile_model MODEL OUT.atn [PRECISION]
 *
 * PRECISION is fp32 (default), bf16 or bf16x3. Prints how the outputs compare with those of the reference
 * interpreter, the outputs of one run on random inputs, and the median time of a run. */
#include <attune/compiler.h>
#include <stdio.h>
#include <stdlib.h>

static void show_progress(void* context, const char* what, int64_t done, int64_t total) {
  fprintf((FILE*)context, "\r%-40s %5lld of %lld", what, (long long)done, (long long)total);
}

/* Prints the failure, and frees it. */
static int fail(attune_failure* failure) {
  fprintf(stderr, "%s\n", attune_failure_message(failure));
  attune_failure_free(failure);
  return 1;
}

static attune_network* compiled_network(const char* model, const char* precision, attune_failure** failure) {
  attune_control control = ATTUNE_CONTROL_INIT;
  control.context = stderr;
  control.progress = show_progress;
  attune_options* options = NULL;
  attune_network *loaded = NULL, *optimized = NULL, *compiled = NULL;
  /* Each call needs the ones before it; what was not made stays NULL, which is freed, too. */
  if (attune_network_load(model, NULL, &control, &loaded, failure) == ATTUNE_OK &&
      attune_options_create(ATTUNE_STEP_OPTIMIZE, &options, failure) == ATTUNE_OK &&
      attune_options_set_text(options, "precision", precision, failure) == ATTUNE_OK &&
      attune_network_optimize(loaded, options, &control, &optimized, failure) == ATTUNE_OK)
    attune_network_compile(optimized, NULL, &control, &compiled, failure);
  fputc('\n', stderr);
  attune_options_free(options);
  attune_network_free(loaded);
  attune_network_free(optimized);
  return compiled;
}

static int print_checks(const attune_network* network, attune_failure** failure) {
  const attune_checks* checks;
  if (attune_network_verify(network, NULL, 0, /*seed=*/1, /*threads=*/0, &checks, failure)) return 0;
  for (size_t i = 0; i < checks->count; ++i)
    printf("%s: %s (%s)\n", checks->items[i]->name,
           checks->items[i]->ok ? "as the reference has it" : "wrong", checks->items[i]->criterion);
  attune_checks_free(checks);
  return 1;
}

/* Makes a random value for each input, of which `arrays` become views; `values` are to be freed. */
static int make_inputs(const attune_network* network, const attune_ports* inputs, attune_tensor** values,
                       attune_array* arrays, attune_failure** failure) {
  for (size_t i = 0; i < inputs->count; ++i) {
    if (attune_network_random_input(network, inputs->items[i]->name, i, &values[i], failure)) return 0;
    arrays[i] = *attune_tensor_array(values[i]);
  }
  return 1;
}

static int print_outputs(const attune_network* network, attune_failure** failure) {
  const attune_ports* inputs;
  if (attune_network_inputs(network, &inputs, failure)) return 0;
  attune_tensor** values = calloc(inputs->count, sizeof(*values));
  attune_array* arrays = calloc(inputs->count, sizeof(*arrays));
  attune_tensors* outputs = NULL;
  const int ok = make_inputs(network, inputs, values, arrays, failure) &&
                 attune_network_run(network, arrays, inputs->count, 0, &outputs, failure) == ATTUNE_OK;
  for (size_t i = 0; ok && i < attune_tensors_count(outputs); ++i) {
    const attune_array* output = attune_tensors_array(outputs, i);
    printf("%s: %s, %zu bytes\n", output->name, attune_dtype_name(output->dtype), output->bytes);
  }
  for (size_t i = 0; i < inputs->count; ++i) attune_tensor_free(values[i]);
  free(values);
  free(arrays);
  attune_tensors_free(outputs);
  attune_ports_free(inputs);
  return ok;
}

static int compare(const void* left, const void* right) {
  const double difference = *(const double*)left - *(const double*)right;
  return (difference > 0) - (difference < 0);
}

static int print_time(const attune_network* network, attune_failure** failure) {
  const attune_run_times* times;
  if (attune_network_bench(network, /*seconds=*/0.1, attune_network_threads(network), NULL, 0, 0, &times,
                           failure))
    return 0;
  double* sorted = malloc(times->count * sizeof(double));
  for (size_t i = 0; i < times->count; ++i) sorted[i] = times->milliseconds[i];
  qsort(sorted, times->count, sizeof(double), compare);
  printf("%.3f ms\n", sorted[times->count / 2]);
  free(sorted);
  attune_run_times_free(times);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: %s MODEL OUT.atn [PRECISION]\n", argv[0]);
    return 2;
  }
  attune_failure* failure = NULL;
  attune_network* network = compiled_network(argv[1], argc == 4 ? argv[3] : "fp32", &failure);
  if (network == NULL) return fail(failure);
  const int ok = attune_network_save(network, argv[2], &failure) == ATTUNE_OK &&
                 print_checks(network, &failure) && print_outputs(network, &failure) &&
                 print_time(network, &failure);
  attune_network_free(network);
  return ok ? 0 : fail(failure);
}
