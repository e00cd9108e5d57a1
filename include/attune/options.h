/* The options of the steps of attune/compiler.h, whose first lines hold here, too: each by its name, as
 * docs/options.md has them in the column of C. */
#ifndef ATTUNE_OPTIONS_H_
#define ATTUNE_OPTIONS_H_

#include <stddef.h>
#include <stdint.h>

#include "attune/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The options of one step. They begin with their defaults; where a function takes options, NULL stands for
 * these. A function that reads or sets an option fails if the step has none of that name, or one of another
 * type. */
typedef struct attune_options attune_options;

typedef enum attune_step {
  ATTUNE_STEP_OPTIMIZE = 0,
  ATTUNE_STEP_COMPILE = 1,
  ATTUNE_STEP_TUNE = 2,
  ATTUNE_STEP_QUANTIZE = 3,
  ATTUNE_STEP_PICTURE = 4
} attune_step;

ATTUNE_EXPORT attune_code attune_options_create(attune_step step, attune_options** options,
                                                attune_failure** failure);
ATTUNE_EXPORT void attune_options_free(attune_options* options);

ATTUNE_EXPORT attune_code attune_options_set_bool(attune_options* options, const char* name, int value,
                                                  attune_failure** failure);
ATTUNE_EXPORT attune_code attune_options_set_int(attune_options* options, const char* name, int64_t value,
                                                 attune_failure** failure);
ATTUNE_EXPORT attune_code attune_options_set_uint(attune_options* options, const char* name, uint64_t value,
                                                  attune_failure** failure);
ATTUNE_EXPORT attune_code attune_options_set_double(attune_options* options, const char* name, double value,
                                                    attune_failure** failure);
/* Also a choice: "bf16", "percentile". */
ATTUNE_EXPORT attune_code attune_options_set_text(attune_options* options, const char* name,
                                                  const char* value, attune_failure** failure);
ATTUNE_EXPORT attune_code attune_options_set_texts(attune_options* options, const char* name,
                                                   const char* const* values, size_t count,
                                                   attune_failure** failure);
/* One number for each channel of a picture, or one for all. */
ATTUNE_EXPORT attune_code attune_options_set_doubles(attune_options* options, const char* name,
                                                     const double* values, size_t count,
                                                     attune_failure** failure);
/* "examples" of the step optimize: typical inputs, by which bf16 judges what it costs; those that are missing
 * are random. */
ATTUNE_EXPORT attune_code attune_options_set_arrays(attune_options* options, const char* name,
                                                    const attune_array* values, size_t count,
                                                    attune_failure** failure);

ATTUNE_EXPORT attune_code attune_options_get_bool(const attune_options* options, const char* name, int* value,
                                                  attune_failure** failure);
ATTUNE_EXPORT attune_code attune_options_get_int(const attune_options* options, const char* name,
                                                 int64_t* value, attune_failure** failure);
ATTUNE_EXPORT attune_code attune_options_get_uint(const attune_options* options, const char* name,
                                                  uint64_t* value, attune_failure** failure);
ATTUNE_EXPORT attune_code attune_options_get_double(const attune_options* options, const char* name,
                                                    double* value, attune_failure** failure);
/* The text belongs to the options, and lives until the option is set. */
ATTUNE_EXPORT attune_code attune_options_get_text(const attune_options* options, const char* name,
                                                  const char** value, attune_failure** failure);
ATTUNE_EXPORT attune_code attune_options_get_texts(const attune_options* options, const char* name,
                                                   const attune_texts** values, attune_failure** failure);

/* Fails if a number is out of its range, as the functions with these options do. */
ATTUNE_EXPORT attune_code attune_options_check(const attune_options* options, attune_failure** failure);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATTUNE_OPTIONS_H_ */
