/* Attune's compiler: makes a fast program of a model's file, for this machine or for others. A program that
 * links attune::attune has this and attune.h; for C++ there is attune/compiler.hpp, which is inline over it.
 *
 *   attune_network *model, *network;
 *   attune_failure* failure;
 *   if (attune_network_load("resnet50.onnx", NULL, NULL, &model, &failure)) return fail(failure);
 *   if (attune_network_compile(model, NULL, NULL, &network, &failure)) return fail(failure);
 *   if (attune_network_save(network, "resnet50.atn", &failure)) return fail(failure);
 *
 * Each step makes another network and leaves the one that it is given unchanged; a step that is left out runs
 * with its defaults when a later one needs it.
 *
 * Errors: a function that can fail returns an attune_code, ATTUNE_OK (0) if it succeeds. If it fails, it
 * leaves its other out parameters as they were, and `*failure` becomes the whole text, of any length, which
 * the caller frees. `failure` itself may be NULL. A file that is missing is ATTUNE_CANNOT_READ. Nothing is
 * thrown, and nothing is printed.
 *
 * Ownership: what an out parameter becomes belongs to the caller, who frees it by the function of its type;
 * all of these take NULL. Texts, arrays and structs that a result points to live as long as the result.
 * Arguments are copied, and may go when the call returns. Texts are UTF-8, as far as the model's are, and end
 * with 0.
 *
 * Threads: networks, devices and results are immutable and may be used by any number of threads at once.
 * Options and tensors may, while no thread changes them.
 *
 * Growth: structs that the library makes may get new members at their end; so arrays of them are arrays of
 * pointers. Structs that the caller fills in either begin with struct_bytes or stay as they are.
 *
 * Processes: tuning, and optimizing for bf16, build and run candidates in processes of the program
 * attune-worker, which is installed with the library; both must be of the same build. */
#ifndef ATTUNE_COMPILER_H_
#define ATTUNE_COMPILER_H_

#include <stddef.h>
#include <stdint.h>

#include "attune/attune.h"
#include "attune/options.h"
#include "attune/results.h"
#include "attune/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An id of the build, which must be that of the worker program: 32 hexadecimal digits. */
ATTUNE_EXPORT const char* attune_build_id(void);

typedef enum attune_language { ATTUNE_LANGUAGE_C = 0, ATTUNE_LANGUAGE_PYTHON = 1 } attune_language;

/* Makes the messages of this process name options as programs in this language do; C unless it is called. To
 * be called before all other functions. */
ATTUNE_EXPORT void attune_set_language(attune_language language);

/* ---- Devices ---- */

/* A machine that networks are tuned for, and measured on. NULL stands for this machine everywhere. */
typedef struct attune_device attune_device;

/* The device of the fleet with this key, as `attune fleet list` shows it. The user must have joined the fleet
 * (`attune fleet join`), or run its server on this machine. The fleet's server must have the address
 * `server`, "host:port", unless that is NULL or empty. The key "cpu" is this machine, and `*device` becomes
 * NULL. */
ATTUNE_EXPORT attune_code attune_device_in_fleet(const char* key, const char* server, attune_device** device,
                                                 attune_failure** failure);
ATTUNE_EXPORT void attune_device_free(attune_device* device);
/* The fingerprint of machines of this kind, whose records it shares. */
ATTUNE_EXPORT attune_code attune_device_fingerprint(const attune_device* device, char** text,
                                                    attune_failure** failure);
/* The processor, as the option `cpus` names it. */
ATTUNE_EXPORT attune_code attune_device_cpu(const attune_device* device, char** text,
                                            attune_failure** failure);
/* The number of processors that kernels may run on. */
ATTUNE_EXPORT attune_code attune_device_processors(const attune_device* device, int* processors,
                                                   attune_failure** failure);

/* ---- Networks ---- */

typedef struct attune_network attune_network;

/* The sizes of an input, by its name. Stays as it is in later versions. */
typedef struct attune_named_shape {
  const char* name;
  const int64_t* sizes;
  size_t rank;
} attune_named_shape;

/* How to load a file. All members but the first may be 0. */
typedef struct attune_open_options {
  size_t struct_bytes; /* sizeof(attune_open_options): lets later versions add members */
  /* Sizes of the inputs' open dimensions: all sizes of an input. */
  const attune_named_shape* shapes;
  size_t num_shapes;
  /* Values of inputs that are the same in every run. The network is specialized for them. */
  const attune_array* values;
  size_t num_values;
  /* The signature of a TensorFlow or TensorFlow Lite model; NULL or empty: the one for inference. */
  const char* signature;
  /* 64 hexadecimal digits, or NULL or empty: an artifact must have this SHA-256. Refused for a model. */
  const char* sha256;
  /* Public keys of Ed25519 as 64 hexadecimal digits: one of them must have signed an artifact. None: any
   * file. */
  const char* const* trusted_keys;
  size_t num_trusted_keys;
  /* The device that the network is for, as in attune_network_on(); an artifact for a device of a fleet need
   * not run here. */
  const attune_device* device;
  /* Whether sizes that neither shapes nor values decide stay open: the network is then one for all of them,
   * and so is its artifact. Compiling fails if its code would be slow. Otherwise they are an error. */
  int leaves_open;
} attune_open_options;

#define ATTUNE_OPEN_OPTIONS_INIT {sizeof(attune_open_options), NULL, 0, NULL, 0, NULL, NULL, NULL, 0, NULL, 0}

/* Loads a model (ONNX, TensorFlow Lite, TensorFlow, exported PyTorch) or an artifact, recognized by its
 * content. An artifact is compiled already: steps that change the network fail. `options` and `control` may
 * be NULL. */
ATTUNE_EXPORT attune_code attune_network_load(const char* path, const attune_open_options* options,
                                              const attune_control* control, attune_network** network,
                                              attune_failure** failure);
/* Loads the artifact with these bytes. */
ATTUNE_EXPORT attune_code attune_network_from_artifact(const void* data, size_t bytes,
                                                       attune_network** network, attune_failure** failure);
/* Builds one of the architectures of attune_zoo_names(), with random weights. */
ATTUNE_EXPORT attune_code attune_network_zoo(const char* name, attune_network** network,
                                             attune_failure** failure);
ATTUNE_EXPORT attune_code attune_zoo_names(const attune_texts** names, attune_failure** failure);
ATTUNE_EXPORT void attune_network_free(attune_network* network);

/* ---- Steps. `options` are of the step, or NULL; `control` may be NULL. ---- */

/* The network for this device. From here on, it is optimized, tuned and compiled for the device, and run,
 * verified, benched and profiled there; a network that was compiled before is compiled again, but an artifact
 * stays as it is. */
ATTUNE_EXPORT attune_code attune_network_on(const attune_network* network, const attune_device* device,
                                            attune_network** result, attune_failure** failure);
ATTUNE_EXPORT attune_code attune_network_optimize(const attune_network* network,
                                                  const attune_options* options,
                                                  const attune_control* control, attune_network** result,
                                                  attune_failure** failure);

/* All inputs of one run. Stays as it is in later versions. */
typedef struct attune_sample {
  const attune_array* inputs;
  size_t count;
} attune_sample;

/* Quantizes to 8-bit integers, calibrated with samples of typical inputs. */
ATTUNE_EXPORT attune_code attune_network_quantize(const attune_network* network, const attune_sample* samples,
                                                  size_t num_samples, const attune_options* options,
                                                  const attune_control* control, attune_network** result,
                                                  attune_failure** failure);
/* Finds faster kernels for the network's device by measuring them. Takes minutes, during which the device
 * should do nothing else. */
ATTUNE_EXPORT attune_code attune_network_tune(const attune_network* network, const attune_options* options,
                                              const attune_control* control, attune_network** result,
                                              attune_failure** failure);
ATTUNE_EXPORT attune_code attune_network_compile(const attune_network* network, const attune_options* options,
                                                 const attune_control* control, attune_network** result,
                                                 attune_failure** failure);
/* The network at the input shapes of `other`, too, which must be the same model after the same steps.
 * Compiling follows: its artifact has the code for both, and their weights once; attune_network_run() takes
 * the code by the shapes of its inputs. */
ATTUNE_EXPORT attune_code attune_network_with_shapes_of(const attune_network* network,
                                                        const attune_network* other, attune_network** result,
                                                        attune_failure** failure);

/* Writes the artifact, completely or not at all. */
ATTUNE_EXPORT attune_code attune_network_save(const attune_network* network, const char* path,
                                              attune_failure** failure);
ATTUNE_EXPORT attune_code attune_network_artifact(const attune_network* network,
                                                  const attune_bytes** artifact, attune_failure** failure);
/* Writes the quantized model as ONNX. Fails if the network is not quantized. */
ATTUNE_EXPORT attune_code attune_network_save_onnx(const attune_network* network, const char* path,
                                                   attune_failure** failure);

/* ---- Running. `threads` 0: as many as the device has processors. ---- */

/* Computes all outputs, in the model's order. Makes a session for each call: for many runs, see attune.h. */
ATTUNE_EXPORT attune_code attune_network_run(const attune_network* network, const attune_array* inputs,
                                             size_t count, int threads, attune_tensors** outputs,
                                             attune_failure** failure);
/* Compares the outputs with those of the reference interpreter. Inputs that are missing are random, by
 * `seed`; so in the next two. */
ATTUNE_EXPORT attune_code attune_network_verify(const attune_network* network, const attune_array* inputs,
                                                size_t count, uint64_t seed, int threads,
                                                const attune_checks** checks, attune_failure** failure);
/* Measures runs for `seconds` seconds, and at least 3 of them. attune_network_threads() has the threads that
 * the network was tuned or compiled for. */
ATTUNE_EXPORT attune_code attune_network_bench(const attune_network* network, double seconds, int threads,
                                               const attune_array* inputs, size_t count, uint64_t seed,
                                               const attune_run_times** times, attune_failure** failure);
/* Measures each kernel: the median of `rounds` runs, or of as many as a device of a fleet chooses. */
ATTUNE_EXPORT attune_code attune_network_profile(const attune_network* network, int rounds, int threads,
                                                 const attune_array* inputs, size_t count, uint64_t seed,
                                                 const attune_kernel_times** times, attune_failure** failure);

/* ---- What a network is ---- */

ATTUNE_EXPORT attune_code attune_network_inputs(const attune_network* network, const attune_ports** inputs,
                                                attune_failure** failure);
/* A size is -1 where data decides it. */
ATTUNE_EXPORT attune_code attune_network_outputs(const attune_network* network, const attune_ports** outputs,
                                                 attune_failure** failure);
/* A random value for an input. */
ATTUNE_EXPORT attune_code attune_network_random_input(const attune_network* network, const char* name,
                                                      uint64_t seed, attune_tensor** tensor,
                                                      attune_failure** failure);
/* Reads a picture (JPEG, PNG, BMP) for an input, whose name may be NULL or empty where there is one: resized
 * to its size, and in the numbers that the network was trained with, as the model says them unless an option
 * does. */
ATTUNE_EXPORT attune_code attune_network_picture(const attune_network* network, const char* path,
                                                 const char* input, const attune_options* options,
                                                 const attune_control* control, attune_tensor** tensor,
                                                 attune_failure** failure);
ATTUNE_EXPORT attune_code attune_network_sizes(const attune_network* network,
                                               const attune_network_size** sizes, attune_failure** failure);
ATTUNE_EXPORT int attune_network_is_compiled(const attune_network* network);
ATTUNE_EXPORT int attune_network_is_quantized(const attune_network* network);
/* The threads of one inference, as the latest attune_network_tune() or attune_network_compile() was given; 1
 * if neither was. */
ATTUNE_EXPORT int attune_network_threads(const attune_network* network);
/* The options for a compilation that no call of attune_network_compile() precedes: those of the latest call,
 * with the changes of attune_network_tune() and attune_network_on(). Their threads are 0 if no call has named
 * any. */
ATTUNE_EXPORT attune_code attune_network_compile_options(const attune_network* network,
                                                         attune_options** options, attune_failure** failure);
/* The result of attune_network_quantize(); fails if the network is not quantized. */
ATTUNE_EXPORT attune_code attune_network_quantization(const attune_network* network,
                                                      const attune_quantization** result,
                                                      attune_failure** failure);
/* The report of the latest attune_network_tune(); fails if the network is not tuned. It belongs to the
 * network, lives as long as it does, and is not freed. */
ATTUNE_EXPORT attune_code attune_network_tuning(const attune_network* network, const attune_tuning** report,
                                                attune_failure** failure);

/* ---- Files ---- */

/* Copies records of tuning from one database to another, which is made if it is missing; skips those that are
 * there already. `run`: attune_tuning.run, or NULL or empty for those of all runs; `is_best_only`: the
 * fastest of each task, device and number of threads alone. `count` becomes the number of new records, unless
 * it is NULL. Other programs may use both databases meanwhile. */
ATTUNE_EXPORT attune_code attune_copy_records(const char* from, const char* to, const char* run,
                                              int is_best_only, int64_t* count, attune_failure** failure);
/* The path of the user's own database of records, whether or not it exists. */
ATTUNE_EXPORT attune_code attune_records_path(char** path, attune_failure** failure);

/* Reads the declarations in a model's file, without importing it; an artifact has inputs alone, and leaves
 * open what differs between its sets of input shapes. `signature` as in attune_open_options. */
ATTUNE_EXPORT attune_code attune_declare(const char* path, const char* signature,
                                         const attune_declaration** declaration, attune_failure** failure);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATTUNE_COMPILER_H_ */
