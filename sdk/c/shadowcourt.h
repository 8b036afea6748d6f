/* The C guest SDK of Shadowcourt: read a request, answer it, in a module of a few kilobytes.
 *
 * A module is one handler for each kind of call that it serves:
 *
 *   #include "shadowcourt.h"
 *
 *   SC_MANIFEST("my-judge", "0.1.0", "judge", ...)     see below
 *
 *   static void judge(const sc_judge_request *request, sc_judge_response *response) { ... }
 *   SC_JUDGE(judge)
 *
 * Everything is allocated from one arena that ends with the call: nothing is freed, and nothing is kept but what the host
 * prepares the module with, since every call begins in pristine memory. Texts and lists of a request point into the arena
 * too, and may be put into the response as they are. Where there is no more memory, a call ends as a trap.
 *
 * It needs no C library. Compile for the sandbox with
 *
 *   clang --target=wasm32 -mbulk-memory -O2 -nostdlib -Wl,--no-entry
 *
 * and for tests of your own with any C11 compiler: then calls are plain functions, and the arena comes from malloc.
 */
#ifndef SHADOWCOURT_H
#define SHADOWCOURT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- values ---- */

/* A text: UTF-8, not ended by a zero byte. */
typedef struct { const char *at; size_t size; } sc_text;
typedef struct { sc_text *at; size_t count; } sc_texts;
typedef struct { int64_t *at; size_t count; } sc_ints;
typedef struct { sc_text key, value; } sc_pair;
typedef struct { sc_pair *at; size_t count; } sc_pairs;

/* A text of a literal: sc_lit("stands"). */
#define sc_lit(literal) ((sc_text){"" literal, sizeof(literal) - 1})

bool sc_equal(sc_text a, sc_text b);

/* sc_new gives room for count values of size bytes each, zeroed. It traps where there is none. */
void *sc_new(size_t count, size_t size);

/* sc_join puts texts one behind the other; sc_number writes a whole number in decimal. */
sc_text sc_join(const sc_text *parts, size_t count);
sc_text sc_number(int64_t n);
#define sc_join_of(...) sc_join((const sc_text[]){__VA_ARGS__}, sizeof((const sc_text[]){__VA_ARGS__}) / sizeof(sc_text))

/* ---- descriptions of messages, generated ---- */

typedef enum { SC_KIND_TEXT, SC_KIND_ENUM, SC_KIND_BOOL, SC_KIND_INT, SC_KIND_FLOAT, SC_KIND_STRUCT, SC_KIND_PAIRS } sc_kind;

enum {
  SC_REQUIRED = 1, /* the key must be there */
  SC_OPTIONAL = 2, /* absent when empty */
  SC_POINTER = 4,  /* absent when NULL */
  SC_LIST = 8,     /* a list of the kind */
  SC_NONEMPTY = 16,
  SC_LEAST = 32, /* the bounds of a number, or of each number in a list */
  SC_MOST = 64,
};

typedef struct {
  const char *name;
  uint8_t size, kind, flags;
  size_t offset;
  const void *of; /* the sc_names of an enumeration, the sc_type of a struct, the default of a text */
  double least, most;
  uint32_t min_count, max_count; /* 0: no bound */
} sc_field;

typedef struct {
  const char *name;
  const sc_field *fields;
  size_t count, size;
} sc_type;

typedef struct {
  size_t count;
  const char *names[16];
} sc_names;

/* ---- the codec ---- */

/* What was wrong with a message: the first problem, its code (SPEC.md §10) and its path (§3.11). */
typedef struct { sc_text code, path; } sc_problem;

/* sc_read reads one message strictly (§3.7) into value, which is of the type. It gives false, and the first problem, for
 * a message that is rejected. The rules across fields (§9.1) are the host's to check. */
bool sc_read(const sc_type *type, const void *message, size_t size, void *value, sc_problem *problem);

/* sc_write gives the canonical bytes (§3.1 to §3.6) of a value. It does not check it: the host does. */
sc_text sc_write(const sc_type *type, const void *value);

#include "shadowcourt_types.h"

/* ---- calls ---- */

/* sc_fail gives the failure with which a module says that it cannot answer. code is in snake_case. */
sc_failure *sc_fail(sc_text code, sc_text message);

/* sc_param gives the parameter of a name, or NULL. */
const sc_param *sc_param_named(const sc_param_list *params, sc_text name);

/* sc_serve reads a request, has it answered and writes the response; a request that is rejected is answered with the failure
 * bad_request. It is what the exports do, and serves tests without a sandbox. */
typedef void (*sc_handler)(void *request, void *response);
sc_text sc_serve(const sc_type *asks, const sc_type *answers, size_t failure, sc_handler handler, const void *message, size_t size);

#ifdef __wasm__
#define SC_EXPORT(name) __attribute__((export_name(name)))
#else
#define SC_EXPORT(name)
#endif

#define SC_SERVE(call, handler, asks, answers)                                                                            \
  static void sc_##call##_handler(void *request, void *response) { handler(request, response); }                          \
  SC_EXPORT("shadowcourt_" #call) uint64_t shadowcourt_##call(const void *request, uint32_t size);                        \
  uint64_t shadowcourt_##call(const void *request, uint32_t size) {                                                       \
    sc_text out = sc_serve(&asks##_type, &answers##_type, offsetof(answers, failure), sc_##call##_handler, request, size); \
    return (uint64_t)(uintptr_t)out.at << 32 | out.size;                                                                  \
  }

/* SC_PREPARE makes the export that keeps what the host prepares the module with (SPEC.md §2.19). SC_NODE makes it, too: write
 * SC_PREPARE only in a module that serves contests and no nodes. */
#define SC_PREPARE SC_SERVE(prepare, sc_prepare, sc_prepare_request, sc_prepare_response)
void sc_prepare(const sc_prepare_request *request, sc_prepare_response *response);

/* Each adds to a request what it leaves out, since the module was prepared with it. It gives NULL, or the failure bad_request for a
 * request that names another preparation. SC_NODE and SC_CONTEST do this before they call the handler. */
sc_failure *sc_node_complete(sc_node_request *request);
sc_failure *sc_contest_complete(sc_contest_request *request);

/* A chooser gives one of the experiments that a request offers, for the host to run first, or NULL for none; the host then makes the
 * call again, with the result (SPEC.md §2.12). sc_node_offers asks it before the handler, and only where there are offers. */
typedef const sc_experiment *(*sc_chooser)(const sc_node_request *request);
typedef void (*sc_node_function)(const sc_node_request *request, sc_node_response *response);
static inline void sc_node_offers(sc_chooser choose, sc_node_function handler, const sc_node_request *request, sc_node_response *response) {
  const sc_experiment *chosen = request->offers.count ? choose(request) : NULL;
  if (chosen) {
    sc_experiment *copy = sc_new(1, sizeof *copy);
    *copy = *chosen;
    response->experiment = copy;
  } else {
    handler(request, response);
  }
}

/* SC_NODE_OFFERS is SC_NODE with a chooser. */
#define SC_NODE_OFFERS(choose, handler)                                                              \
  static void sc_offers_handler(const sc_node_request *request, sc_node_response *response) {        \
    sc_node_offers(choose, handler, request, response);                                              \
  }                                                                                                  \
  SC_NODE(sc_offers_handler)

/* An asker says what a language model is to be asked first, or NULL for nothing; the host then makes the call again, with the answer at
 * the end of completions (SPEC.md §2.12). sc_node_models asks it before the handler, and only where there are models. A module with a
 * chooser, too, gives SC_NODE_OFFERS a handler that calls sc_node_models. */
typedef sc_completion *(*sc_asker)(const sc_node_request *request);
static inline void sc_node_models(sc_asker ask, sc_node_function handler, const sc_node_request *request, sc_node_response *response) {
  response->completion = request->models.count ? ask(request) : NULL;
  if (!response->completion) handler(request, response);
}

/* SC_NODE_MODELS is SC_NODE with an asker. */
#define SC_NODE_MODELS(ask, handler)                                                                 \
  static void sc_models_handler(const sc_node_request *request, sc_node_response *response) {        \
    sc_node_models(ask, handler, request, response);                                                 \
  }                                                                                                  \
  SC_NODE(sc_models_handler)

/* sc_completion_new asks a model that the request offers for one answer, of so many tokens at most, and no more than the model may give. An
 * empty system message is left out. The fields schema, samples, temperature and seed are yours to set. */
sc_completion *sc_completion_new(const sc_model_offer *offer, int64_t tokens, sc_text system, sc_text user);

/* sc_no_answer gives NULL where a model gave an answer, and else the failure that says why not: model_failed, model_invalid and so on.
 * After it the persona's fallback plays, where the pipeline names one. */
sc_failure *sc_no_answer(const sc_completion_result *result);

#define SC_SERVE_COMPLETED(call, handler)                                                            \
  static void sc_##call##_completed(sc_##call##_request *request, sc_##call##_response *response) {  \
    response->failure = sc_##call##_complete(request);                                               \
    if (!response->failure) handler(request, response);                                              \
  }                                                                                                  \
  SC_SERVE(call, sc_##call##_completed, sc_##call##_request, sc_##call##_response)

/* Each makes the export of a call of a handler void f(const REQUEST *, RESPONSE *). The response begins empty. */
#define SC_NODE(handler) SC_SERVE_COMPLETED(node, handler) SC_PREPARE
#define SC_CONTEST(handler) SC_SERVE_COMPLETED(contest, handler)
#define SC_EDGES(handler) SC_SERVE(edges, handler, sc_edge_request, sc_edge_response)
#define SC_JUDGE(handler) SC_SERVE(judge, handler, sc_judge_request, sc_judge_response)

#include "shadowcourt_manifest.h"

/* ---- capabilities (SPEC.md §2.12) ---- */

/* The manifest must list each capability that is used, and the pipeline must grant it; otherwise the module does not load. Only
 * the functions that a module calls are imported. Natively there is no host, and nothing is known. */

#ifdef __wasm__
#define SC_IMPORT(name)                                                                   \
  __attribute__((import_module("shadowcourt"), import_name(#name))) int32_t sc_host_##name( \
      const void *request, size_t size, void *answer, size_t capacity)
SC_IMPORT(log);
SC_IMPORT(recall);
SC_IMPORT(correlate);
SC_IMPORT(source);
#else
static inline int32_t sc_host_none(const void *request, size_t size, void *answer, size_t capacity) {
  (void)request, (void)size, (void)answer, (void)capacity;
  return 0;
}
#define sc_host_log sc_host_none
#define sc_host_recall sc_host_none
#define sc_host_correlate sc_host_none
#define sc_host_source sc_host_none
#endif

/* sc_ask puts a query to a function of the host and reads its answer, which is empty where nothing is known. It gives false for
 * an answer that can't be read. */
typedef int32_t (*sc_function)(const void *request, size_t size, void *answer, size_t capacity);
bool sc_ask(sc_function function, const sc_type *asks, const void *query, const sc_type *answers, void *answer);

/* sc_recall asks the casebook for cases that have the fingerprint of this one, or nearly; sc_correlate searches it by text.
 * The most similar case stands first. */
static inline bool sc_recall(const sc_recall_query *query, sc_prior_cases *answer) {
  return sc_ask(sc_host_recall, &sc_recall_query_type, query, &sc_prior_cases_type, answer);
}
static inline bool sc_correlate(const sc_correlate_query *query, sc_prior_cases *answer) {
  return sc_ask(sc_host_correlate, &sc_correlate_query_type, query, &sc_prior_cases_type, answer);
}

/* sc_source asks which files of the source a text names. */
static inline bool sc_source(const sc_source_query *query, sc_source_answer *answer) {
  return sc_ask(sc_host_source, &sc_source_query_type, query, &sc_source_answer_type, answer);
}

/* sc_log writes a line to the host's log. An empty one is none. */
static inline void sc_log(sc_text message) {
  sc_log_line line = {message};
  sc_text out = sc_write(&sc_log_line_type, &line);
  if (message.size) sc_host_log(out.at, out.size, NULL, 0);
}

#endif
