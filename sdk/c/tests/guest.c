/* A guest that reads any message of the contract and writes it again: the test vectors are put through it. A node request itself,
 * which begins with the head of a map, is answered with the offer that runs green tests, with a question to the first model, or with a
 * failure that repeats what the model said. At a node with the name repeat, and to a contest request, the answer is a failure that repeats the
 * request, in hexadecimal.
 *
 * The request is a byte with the length of a type's name, the name, and the message. The response begins with a 0 and goes
 * on with the canonical bytes, or with a 1 and goes on with the problem's path, a zero byte, and its code. */

#include "../shadowcourt.h"

#include "by_name.h"

SC_MANIFEST("vectors", "1.0.0", SC_LIST("node", "contest"), SC_LIST("indict", "discover"), SC_LIST(), SC_LIST(), SC_LIST("log", "recall"))

static sc_text rewrite(const char *request, size_t size) {
  sc_text name = {request + 1, (uint8_t)request[0]};
  for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
    const sc_type *type = messages[i];
    if (!sc_equal(name, (sc_text){type->name, __builtin_strlen(type->name)})) continue;
    void *value = sc_new(1, type->size);
    sc_problem problem;
    if (sc_read(type, request + 1 + name.size, size - 1 - name.size, value, &problem))
      return sc_join_of(((sc_text){"\0", 1}), sc_write(type, value));
    return sc_join_of(((sc_text){"\1", 1}), problem.path, ((sc_text){"\0", 1}), problem.code);
  }
  return sc_lit("\2");
}

/* repeat gives the failure that repeats a request. */
static sc_failure *repeat(const sc_type *type, const void *request) {
  sc_text message = sc_write(type, request);
  char *hex = sc_new(2 * message.size, 1);
  for (size_t i = 0; i < 2 * message.size; i++) hex[i] = "0123456789abcdef"[(uint8_t)message.at[i / 2] >> (i % 2 ? 0 : 4) & 15];
  return sc_fail(sc_lit("repeat"), (sc_text){hex, 2 * message.size});
}

static const sc_experiment *choose(const sc_node_request *request) {
  for (size_t i = 0; i < request->offers.count; i++)
    if (request->offers.at[i].experiment.tests == SC_TREE_REVISION_BASE) return &request->offers.at[i].experiment;
  return NULL;
}

static void refuse(const sc_node_request *request, sc_node_response *response) {
  response->failure = sc_fail(sc_lit("no_offer"), sc_lit("nothing to run"));
  if (request->completions.count) {
    const sc_completion_result *result = request->completions.at;
    response->failure = sc_no_answer(result);
    if (!response->failure) response->failure = sc_fail(sc_lit("said"), result->answers.at[0]);
  }
}

static sc_completion *ask(const sc_node_request *request) {
  return request->completions.count ? NULL : sc_completion_new(request->models.at, 100, request->prompt, request->case_.subject);
}

static void models(const sc_node_request *request, sc_node_response *response) { sc_node_models(ask, refuse, request, response); }
static void node(void *message, void *answer) {
  sc_node_request *request = message;
  sc_node_response *response = answer;
  if ((response->failure = sc_node_complete(request))) return;
  if (sc_equal(request->node, sc_lit("repeat")))
    response->failure = repeat(&sc_node_request_type, request);
  else
    sc_node_offers(choose, models, request, response);
}

SC_PREPARE

SC_EXPORT("shadowcourt_node") uint64_t shadowcourt_node(const char *request, uint32_t size);
uint64_t shadowcourt_node(const char *request, uint32_t size) {
  sc_text out = (uint8_t)request[0] < 0x80 ? rewrite(request, size)
                                           : sc_serve(&sc_node_request_type, &sc_node_response_type, offsetof(sc_node_response, failure), node, request, size);
  return (uint64_t)(uintptr_t)out.at << 32 | out.size;
}

static void contest(void *request, void *answer) {
  sc_contest_response *response = answer;
  response->failure = sc_contest_complete(request);
  if (!response->failure) response->failure = repeat(&sc_contest_request_type, request);
}

/* Without a request: asks the casebook, logs how many cases there are, and answers with them. */
SC_EXPORT("shadowcourt_contest") uint64_t shadowcourt_contest(const char *request, uint32_t size);
uint64_t shadowcourt_contest(const char *request, uint32_t size) {
  if (size) {
    sc_text out = sc_serve(&sc_contest_request_type, &sc_contest_response_type, offsetof(sc_contest_response, failure), contest, request, size);
    return (uint64_t)(uintptr_t)out.at << 32 | out.size;
  }
  sc_prior_cases answer;
  if (!sc_recall(&(sc_recall_query){.limit = 3}, &answer)) __builtin_trap();
  sc_log(sc_join_of(sc_number((int64_t)answer.cases.count), sc_lit(" cases")));
  sc_text out = sc_write(&sc_prior_cases_type, &answer);
  return (uint64_t)(uintptr_t)out.at << 32 | out.size;
}
