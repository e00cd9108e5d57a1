/* Attune's runtime: loads a compiled network (an artifact, made by `attune compile`) and runs it.
 *
 *   attune_model* model;
 *   attune_session* session;
 *   attune_error error;
 *   if (attune_load("resnet50.atn", NULL, &model, &error)) return fail(error.message);
 *   if (attune_session_create(model, 1, &session, &error)) return fail(error.message);
 *   memcpy(attune_session_input(session, 0), pixels, sizeof(pixels));
 *   if (attune_session_run(session, &error)) return fail(error.message);
 *   attune_output output;
 *   attune_session_output(session, 0, &output, &error);
 *
 * Threads: a model is immutable, and any number of threads may use it at once. A session belongs to one
 * thread at a time; distinct sessions, of one model or of several, are independent and may run at once.
 *
 * Errors: a function that can fail returns an attune_code, ATTUNE_OK (0) if it succeeds. If it fails, it
 * fills `error`, unless that is NULL, with one sentence that says what is wrong and what to do, and leaves
 * its out parameters as they were. Nothing is thrown, and nothing is printed.
 *
 * Ownership: the caller frees the models and sessions that it has made, in any order; a session keeps what it
 * needs of its model. A pointer that a function returns belongs to the model or session that was passed to
 * the function, and lives as long as that unless stated otherwise.
 *
 * Trust: an artifact is native code that runs in this process. Loading any file is safe; running it is only
 * as safe as its compiler can be trusted. Pin the file with attune_load_options.expected_sha256, or a set of
 * files with trusted_sha256, or name the keys whose signatures you trust with trusted_keys.
 *
 * A process that forks must not run, in the child, a session that was made before the fork. */
#ifndef ATTUNE_ATTUNE_H_
#define ATTUNE_ATTUNE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define ATTUNE_EXPORT
#else
#define ATTUNE_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct attune_model attune_model;
typedef struct attune_session attune_session;

/* Numbers are stable: new ones are appended. */
typedef enum attune_code {
  ATTUNE_OK = 0,
  ATTUNE_INVALID_ARGUMENT = 1, /* a NULL, an index out of range (also in the data), a wrong number of bytes */
  ATTUNE_CANNOT_READ = 2,      /* the file is missing or the system refuses it */
  ATTUNE_NOT_ARTIFACT = 3,     /* another kind of file */
  ATTUNE_WRONG_VERSION = 4,    /* of another version of the format */
  ATTUNE_DAMAGED = 5,          /* cut short, or its content does not match its checksums */
  ATTUNE_WRONG_TARGET = 6,     /* compiled for another processor */
  ATTUNE_NOT_TRUSTED = 7,      /* neither its SHA-256 nor a signature is one that was asked for */
  ATTUNE_OUT_OF_MEMORY = 8,    /* memory, threads or, for the compiler, room on a disk cannot be had */
  ATTUNE_KERNEL_FAILED = 9,    /* compiled code reported an error while it ran */
  /* The rest are of the compiler alone (attune/compiler.h). */
  ATTUNE_NOT_FOUND = 10,   /* nothing has this name: a device, a network of the zoo */
  ATTUNE_UNSUPPORTED = 11, /* the model needs what Attune lacks: a line for each operator */
  ATTUNE_CANCELLED = 12,   /* as the caller's attune_stop has asked */
  ATTUNE_UNAVAILABLE = 13, /* may work later: another process holds the records */
  ATTUNE_INTERNAL = 14     /* a bug of Attune */
} attune_code;

typedef struct attune_error {
  attune_code code;
  char message[512]; /* UTF-8, ends with 0; a longer one is cut */
} attune_error;

/* Element types. */
typedef enum attune_dtype {
  ATTUNE_F32 = 0,
  ATTUNE_F64 = 1,
  ATTUNE_F16 = 2, /* IEEE binary16 */
  ATTUNE_BF16 = 3,
  ATTUNE_I8 = 4,
  ATTUNE_I16 = 5,
  ATTUNE_I32 = 6,
  ATTUNE_I64 = 7,
  ATTUNE_U8 = 8,
  ATTUNE_U16 = 9,
  ATTUNE_U32 = 10,
  ATTUNE_U64 = 11,
  ATTUNE_BOOL = 12 /* one byte, 0 or 1 */
} attune_dtype;

/* The runtime's version, "0.1.0". */
ATTUNE_EXPORT const char* attune_version(void);
/* The size of one element in bytes, 0 for a number that is no dtype. */
ATTUNE_EXPORT size_t attune_dtype_size(attune_dtype dtype);
/* "f32", "i64", "bool", ...; "?" for a number that is no dtype. */
ATTUNE_EXPORT const char* attune_dtype_name(attune_dtype dtype);

/* ---- Loading ---- */

typedef struct attune_load_options {
  size_t struct_bytes; /* sizeof(attune_load_options): lets later versions add fields */
  /* 64 hexadecimal digits, as sha256sum prints them, or NULL. With digits, the file is read whole and hashed
   * before anything in it is used (about 3 ms per megabyte), instead of being mapped. */
  const char* expected_sha256;
  /* Nonzero: check the weights' checksum too, which reads all of them. See attune_model_verify. */
  int verify_constants;
  /* Nonzero: read the file whole into memory, so that whatever happens to it afterwards does no harm. */
  int read_whole;
  /* NULL, or `num_trusted_sha256` digests: the file must have one of them. Otherwise like expected_sha256. */
  const char* const* trusted_sha256;
  size_t num_trusted_sha256;
  /* Nonzero: load an artifact for any processor, to ask what it is. The model cannot be run, and takes no
   * memory for its weights. */
  int describe_only;
  /* NULL, or `num_trusted_keys` public keys of Ed25519, each as 64 hexadecimal digits (attune key show): one
   * of them must have signed the file. The file is read whole, and its signature is verified before any of
   * its code becomes executable. Needs libcrypto of OpenSSL, which is loaded for this alone; without it, the
   * file is refused. */
  const char* const* trusted_keys;
  size_t num_trusted_keys;
} attune_load_options;

#define ATTUNE_LOAD_OPTIONS_INIT {sizeof(attune_load_options), NULL, 0, 0, NULL, 0, 0, NULL, 0}

/* Loads the artifact at `path`. `options` may be NULL. The file is mapped, and read as it is used: it must
 * not be changed in place while the model lives (replacing it by a rename is fine, and `attune compile` does
 * that). If it is cut short, or its disk fails, reading the missing weights raises SIGBUS; read_whole avoids
 * that. Loading takes milliseconds, whatever the size of the weights, with two exceptions: compressed weights
 * are all checked and expanded into memory; and weights in a form that kernels do not read are prepacked, by
 * code of the artifact, into memory of the process. If the code uses the tile registers of AMX, the process
 * asks Linux for them, once and for all. That fails, and attune_load returns ATTUNE_WRONG_TARGET, if a thread
 * has an alternate signal stack without room for them (sigaltstack(2): less than
 * getauxval(AT_MINSIGSTKSZ)). */
ATTUNE_EXPORT attune_code attune_load(const char* path, const attune_load_options* options,
                                      attune_model** model, attune_error* error);
/* The same from the `bytes` of an artifact's file at `data`, which are copied. */
ATTUNE_EXPORT attune_code attune_load_memory(const void* data, size_t bytes,
                                             const attune_load_options* options, attune_model** model,
                                             attune_error* error);
/* NULL is allowed. */
ATTUNE_EXPORT void attune_model_free(attune_model* model);
/* Checks the weights against their checksum; reads all of them. ATTUNE_DAMAGED if they differ. */
ATTUNE_EXPORT attune_code attune_model_verify(const attune_model* model, attune_error* error);

/* ---- What a model is ---- */

/* An artifact can hold code for several processors: attune_load takes the best that this one can run, and the
 * functions below describe that code. It can also hold the network for several sets of input shapes: the
 * model stands for the first set, and each attune_model_shape_set for one. They belong to the model, live as
 * long as it does, and are not freed; sessions are made from them as from the model. NULL for an index out of
 * range.
 *
 * A set may leave sizes open, as the batch or the length of a sequence: it stands for all shapes within their
 * ranges, and a session computes each with no padding (attune_session_use_shapes). */
ATTUNE_EXPORT size_t attune_model_num_shape_sets(const attune_model* model);
ATTUNE_EXPORT const attune_model* attune_model_shape_set(const attune_model* model, size_t index);

/* The artifact's file as it was loaded: the bytes that a digest or a signature was checked of, whatever has
 * become of the file since. Sets `bytes` to their number. They live as long as the model. */
ATTUNE_EXPORT const void* attune_model_file(const attune_model* model, size_t* bytes);

typedef struct attune_tensor_info {
  const char* name;
  attune_dtype dtype;
  size_t rank;
  const int64_t* shape; /* `rank` sizes; upper bounds where is_dynamic */
  int is_dynamic;       /* whether a size is open or depends on the data; the latter never for an input */
  size_t bytes;         /* of a tensor of `shape`: dense, row-major; SIZE_MAX if that is too small a number */
} attune_tensor_info;

ATTUNE_EXPORT size_t attune_model_num_inputs(const attune_model* model);
ATTUNE_EXPORT size_t attune_model_num_outputs(const attune_model* model);
ATTUNE_EXPORT attune_code attune_model_input(const attune_model* model, size_t index,
                                             attune_tensor_info* info, attune_error* error);
ATTUNE_EXPORT attune_code attune_model_output(const attune_model* model, size_t index,
                                              attune_tensor_info* info, attune_error* error);

/* The range of one dimension of an input or an output. */
typedef struct attune_dimension {
  const char*
      name; /* of the open size that it is; NULL if it is constant, depends on the data or is computed */
  int64_t min, max; /* both included; equal if it is constant */
  int is_open;      /* whether the shapes of the inputs decide it */
} attune_dimension;

ATTUNE_EXPORT attune_code attune_model_input_dimension(const attune_model* model, size_t index,
                                                       size_t dimension, attune_dimension* found,
                                                       attune_error* error);
ATTUNE_EXPORT attune_code attune_model_output_dimension(const attune_model* model, size_t index,
                                                        size_t dimension, attune_dimension* found,
                                                        attune_error* error);

/* A text about the model, NULL for an unknown key: "target.arch", "target.cpu", "target.features" (joined by
 * commas), "target.cpus" (all that the artifact holds code for, the best first), "model.name",
 * "model.sha256", "compiler.version", "pass_plan", "records", "graph", "signers" (the public keys by which it
 * is signed, joined by commas; who they are was verified only if it was loaded with trusted_keys). */
ATTUNE_EXPORT const char* attune_model_metadata(const attune_model* model, const char* key);

typedef struct attune_memory_info {
  uint64_t constant_bytes; /* weights, shared by all sessions; mapped, or made from the file's when loaded */
  uint64_t code_bytes;
  uint64_t arena_bytes;   /* of each session, without what open sizes need */
  uint64_t scratch_bytes; /* of each session and thread */
} attune_memory_info;

ATTUNE_EXPORT attune_code attune_model_memory(const attune_model* model, attune_memory_info* info,
                                              attune_error* error);

typedef struct attune_kernel_info {
  const char* name;
  const char* op;       /* what it computes */
  const char* strategy; /* how */
  const char* digest;   /* of its object code */
  uint64_t flops;       /* operations of one call */
  uint64_t bytes_read;  /* the least that one call must read and write */
  uint64_t bytes_written;
} attune_kernel_info;

ATTUNE_EXPORT size_t attune_model_num_kernels(const attune_model* model);
ATTUNE_EXPORT attune_code attune_model_kernel(const attune_model* model, size_t index,
                                              attune_kernel_info* info, attune_error* error);

typedef struct attune_instruction_info {
  int32_t kernel;    /* the kernel it calls, -1 if it jumps, branches or copies */
  int is_parallel;   /* whether the call is split over the session's threads */
  const char* label; /* the nodes of the network that it computes */
} attune_instruction_info;

/* The steps of the program, for profiles. */
ATTUNE_EXPORT size_t attune_model_num_instructions(const attune_model* model);
ATTUNE_EXPORT attune_code attune_model_instruction(const attune_model* model, size_t index,
                                                   attune_instruction_info* info, attune_error* error);

/* ---- Running ---- */

/* Makes a session with memory of its own that runs on up to `threads` threads, the calling one included; 0
 * takes one for each processor that this thread may run on, within the limit of its control group, or fewer
 * if the system has no threads or memory for them; more than 1024 is an error. The other threads belong to
 * one pool of the process, as large as its largest living session needs. If several sessions run at once,
 * each parallel step goes to the pool if that is free; otherwise the calling thread computes it alone, so
 * that no session waits for another. The results do not depend on that. Idle threads sleep. */
ATTUNE_EXPORT attune_code attune_session_create(const attune_model* model, size_t threads,
                                                attune_session** session, attune_error* error);
/* NULL is allowed. Not while the session runs. */
ATTUNE_EXPORT void attune_session_free(attune_session* session);

/* Makes the session run the network at another set of input shapes, by its index; a set with open sizes at
 * the smallest that are at least 1, as in a new session. All sets share the session's memory, so the values
 * of inputs and outputs are lost. Not while the session runs. After an error, the session is as before. */
ATTUNE_EXPORT attune_code attune_session_use_shape_set(attune_session* session, size_t index,
                                                       attune_error* error);

typedef struct attune_shape {
  const int64_t* sizes;
  size_t rank;
} attune_shape;

/* The same by the shapes of all `count` inputs, in the model's order; open sizes get the values that the
 * shapes give them. A set without open sizes is preferred. The error lists the sets, or names the dimension
 * that does not fit. Sizes that were used before, among the last 64 choices, take a few microseconds and no
 * memory; others up to some 100 microseconds, and memory if they need more than the session has, which it
 * keeps. */
ATTUNE_EXPORT attune_code attune_session_use_shapes(attune_session* session, const attune_shape* shapes,
                                                    size_t count, attune_error* error);

/* Bounds the memory of the session for tensors and scratch: shapes that need more than `bytes` bytes are
 * refused from now on (ATTUNE_OUT_OF_MEMORY, and the error says how many), and memory beyond the bound is
 * freed when shapes are set. 0: no bound, as at first. Not while the session runs. */
ATTUNE_EXPORT attune_code attune_session_set_max_memory(attune_session* session, uint64_t bytes,
                                                        attune_error* error);

/* As attune_model_input and attune_model_output, at the session's current shapes: open sizes have their
 * values, so that `shape` is the actual one unless it depends on the data. `shape` lives until the session
 * uses other shapes. */
ATTUNE_EXPORT attune_code attune_session_input_info(const attune_session* session, size_t index,
                                                    attune_tensor_info* info, attune_error* error);
ATTUNE_EXPORT attune_code attune_session_output_info(const attune_session* session, size_t index,
                                                     attune_tensor_info* info, attune_error* error);

/* Where to write input `index`: 64-byte aligned, of as many bytes as attune_session_input_info says, zero at
 * first. NULL for an index out of range. The address and the content stay until the session is freed or uses
 * other shapes, over any number of runs. */
ATTUNE_EXPORT void* attune_session_input(attune_session* session, size_t index);
/* Copies `bytes` bytes at `data` there; a number other than the input's is an error. */
ATTUNE_EXPORT attune_code attune_session_set_input(attune_session* session, size_t index, const void* data,
                                                   size_t bytes, attune_error* error);

/* attune_model_num_instructions of the set of shapes that the session uses. */
ATTUNE_EXPORT size_t attune_session_num_instructions(const attune_session* session);

/* Computes the outputs from the inputs. Allocates nothing. While it runs, a second run of the same session
 * from another thread is refused. */
ATTUNE_EXPORT attune_code attune_session_run(attune_session* session, attune_error* error);
/* The same, and stores in nanoseconds[i] how long instruction i took, all its executions together. `count`
 * must be attune_session_num_instructions. Reading the clock costs some 50 ns per instruction. */
ATTUNE_EXPORT attune_code attune_session_run_profiled(attune_session* session, uint64_t* nanoseconds,
                                                      size_t count, attune_error* error);

typedef struct attune_output {
  const void* data; /* dense, row-major */
  attune_dtype dtype;
  size_t rank;
  const int64_t* shape; /* the actual sizes of this run */
  size_t bytes;
} attune_output;

/* Output `index` of the last run, which must have succeeded. The data that `output` points to is valid until
 * the session runs again or is freed. */
ATTUNE_EXPORT attune_code attune_session_output(attune_session* session, size_t index, attune_output* output,
                                                attune_error* error);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATTUNE_ATTUNE_H_ */
