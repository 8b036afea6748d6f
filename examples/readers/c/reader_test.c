/* Run by make test. */

#include <stdio.h>

#include "shadowcourt.h"

sc_completion *ask(const sc_node_request *request);
void node(const sc_node_request *request, sc_node_response *response);

static sc_text labels[] = {sc_lit("quota"), sc_lit("leak")};
static sc_document document = {sc_lit("log"), sc_lit("ok\n  quota exceeded\n")};
static sc_model_offer offer = {sc_lit("small"), 4000, 500};

static sc_node_request request_with(sc_completion_result *results, size_t count) {
  return (sc_node_request){.family = SC_FAMILY_DISCOVER, .case_ = {.labels = {labels, 2}, .documents = {&document, 1}},
    .prompt = sc_lit("Read."), .models = {&offer, 1}, .completions = {results, count}};
}

int main(void) {
  int faults = 0;
#define EXPECT(what) (what) ? (void)0 : (void)(faults++, puts("not so: " #what))
  sc_text answers[] = {sc_lit("{\"line\": 2}"), sc_lit("{\"line\":0}")};
  sc_completion_result results[] = {
      {.model = offer.model, .outcome = SC_COMPLETION_OUTCOME_ANSWERED, .answers = {&answers[0], 1}},
      {.model = offer.model, .outcome = SC_COMPLETION_OUTCOME_ANSWERED, .answers = {&answers[1], 1}},
  };

  sc_node_request first = request_with(NULL, 0);
  const sc_completion *c = ask(&first);
  EXPECT(c->answer_tokens == 50 && c->samples == 1 && c->messages.count == 2);
  EXPECT(__builtin_memcmp(c->messages.at[1].content.at, "1| ok\n2|   quota exceeded\n", 26) == 0);

  sc_node_request both = request_with(results, 2);
  EXPECT(!ask(&both));
  sc_node_response response = {0};
  node(&both, &response);
  const sc_discovery *d = response.artifact->discovery;
  EXPECT(d->findings.count == 1 && d->missing.count == 1);
  EXPECT(sc_equal(d->findings.at[0].quote, sc_lit("  quota exceeded")) && sc_equal(d->findings.at[0].source, sc_lit("model:small")));

  sc_completion_result failed = {.model = offer.model, .outcome = SC_COMPLETION_OUTCOME_FAILED, .detail = sc_lit("down")};
  sc_node_request without = request_with(&failed, 1);
  response = (sc_node_response){0};
  node(&without, &response);
  EXPECT(!response.artifact && sc_equal(response.failure->code, sc_lit("model_failed")) && sc_equal(response.failure->message, sc_lit("down")));
  return faults;
}
