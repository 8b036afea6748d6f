/* Run by make test: requests are completed with what the module was prepared with. */

#include <stdio.h>

#include "shadowcourt.h"

static int faults;
#define EXPECT(what) (what) ? (void)0 : (void)(faults++, printf("line %d: not so: " #what "\n", __LINE__))

static sc_node_request node_seen;
static sc_contest_request contest_seen;
static int handled;

static void see_node(const sc_node_request *request, sc_node_response *response) {
  (void)response;
  node_seen = *request;
  handled++;
}
static void see_contest(const sc_contest_request *request, sc_contest_response *response) {
  (void)response;
  contest_seen = *request;
  handled++;
}

static void serve_prepare(const void *request, void *response) { sc_prepare(request, response); }

/* prepare puts a message before the module, and says whether it keeps what is in it. */
static bool prepare(sc_text message) {
  sc_text out = sc_serve(&sc_prepare_request_type, &sc_prepare_response_type, offsetof(sc_prepare_response, failure), serve_prepare, message.at, message.size);
  sc_prepare_response response;
  EXPECT(sc_read(&sc_prepare_response_type, out.at, out.size, &response, NULL));
  return !response.failure;
}
static bool prepare_with(sc_prepare_request request) { return prepare(sc_write(&sc_prepare_request_type, &request)); }

static sc_signal signals[] = {{.phrase = sc_lit("one")}, {.phrase = sc_lit("two")}, {.phrase = sc_lit("three")}};
static sc_source_reliability sources[] = {{.source = sc_lit("log")}, {.source = sc_lit("repo")}};
static sc_outcome_model outcomes;
static sc_text labels[] = {sc_lit("a"), sc_lit("b")};
static sc_document log = {sc_lit("log"), sc_lit("one two")};
static sc_experiment_result results[1];

/* node asks with a request that leaves out what it names; it gives the failure, or NULL where the handler saw the request. */
static sc_failure *node(sc_prepared with) {
  sc_node_request request = {.case_ = {.labels = {labels, 1}, .experiments = {results, 1}}, .prepared = &with};
  sc_node_response response = {0};
  int before = handled;
  sc_node_prepared(see_node, &request, &response);
  EXPECT(handled == before + !response.failure);
  return response.failure;
}

static bool rejects(sc_prepared with) {
  sc_failure *failure = node(with);
  return failure && sc_equal(failure->code, sc_lit("bad_request")) && failure->message.size > 0;
}

int main(void) {
  sc_profile profile = {.name = sc_lit("known"), .signals = {signals, 3}, .sources = {sources, 2}, .signal_cap = 3, .outcomes = &outcomes};
  sc_case_view view = {.subject = sc_lit("a test"), .labels = {labels, 2}, .documents = {&log, 1}};
  sc_text first = sc_lit("first"), second = sc_lit("second");
  sc_profile_parts all = {.all = true, .outcomes = true};

  EXPECT(rejects((sc_prepared){.digest = first}));
  EXPECT(prepare_with((sc_prepare_request){.digest = first}));
  EXPECT(!node((sc_prepared){.digest = first}) && !node_seen.case_.subject.size && !node_seen.profile);
  EXPECT(rejects((sc_prepared){.digest = first, .profile = &all}));
  EXPECT(rejects((sc_prepared){.digest = first, .case_ = true}));

  EXPECT(prepare_with((sc_prepare_request){.digest = first, .profile = &profile}));
  EXPECT(prepare_with((sc_prepare_request){.digest = second, .case_ = &view}));
  EXPECT(!prepare((sc_text){"\x81\xa3" "fog\1", 6}));
  EXPECT(rejects((sc_prepared){.digest = first, .case_ = true}));

  int64_t some[] = {0, 2}, one[] = {1}, beyond[] = {3}, negative[] = {-1};
  sc_profile_parts parts = {.signals = {some, 2}, .sources = {one, 1}};
  EXPECT(!node((sc_prepared){.digest = second, .profile = &parts, .case_ = true}));
  const sc_profile *seen = node_seen.profile;
  EXPECT(sc_equal(seen->name, profile.name) && seen->signal_cap == 3 && !seen->outcomes && seen->signals.count == 2 && seen->sources.count == 1);
  EXPECT(sc_equal(seen->signals.at[0].phrase, signals[0].phrase) && sc_equal(seen->signals.at[1].phrase, signals[2].phrase));
  EXPECT(sc_equal(seen->sources.at[0].source, sources[1].source));
  EXPECT(sc_equal(node_seen.case_.subject, view.subject) && node_seen.case_.labels.count == 1 && sc_equal(node_seen.case_.documents.at->text, log.text));
  EXPECT(node_seen.case_.experiments.at == results && !node_seen.prepared);
  const char *shared = seen->signals.at[1].phrase.at;

  sc_prepared whole = {.digest = second, .profile = &all};
  sc_contest_request request = {.labels = {labels, 2}, .prepared = &whole};
  sc_contest_response response = {0};
  sc_contest_prepared(see_contest, &request, &response);
  seen = contest_seen.profile;
  EXPECT(!response.failure && seen->outcomes && seen->signals.count == 3 && seen->sources.count == 2 && contest_seen.labels.at == labels && !contest_seen.prepared);
  EXPECT(seen->signals.at[2].phrase.at == shared);

  parts = (sc_profile_parts){.signals = {beyond, 1}};
  EXPECT(rejects((sc_prepared){.digest = second, .profile = &parts}));
  parts = (sc_profile_parts){.sources = {negative, 1}};
  EXPECT(rejects((sc_prepared){.digest = second, .profile = &parts}));
  whole.digest = first;
  sc_contest_prepared(see_contest, &request, &response);
  EXPECT(response.failure && handled == 3);
  parts = (sc_profile_parts){0};
  EXPECT(!node((sc_prepared){.digest = second, .profile = &parts}) && node_seen.profile->signals.count == 0 && !node_seen.case_.subject.size);
  puts(faults ? "failed" : "ok");
  return faults > 0;
}
