/* Run by make test. */

#include <stdio.h>
#include <string.h>

#include "surprise.h"

static int failures;

#define CHECK(what)                                                 \
  do                                                                \
    if (!(what)) {                                                  \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what);     \
      failures++;                                                   \
    }                                                               \
  while (0)

static sc_text text(const char *s) { return (sc_text){s, strlen(s)}; }

/* A log in which one line is not like the others. */
static sc_text log_of(int n) {
  static char out[1 << 16];
  size_t at = 0;
  for (int i = 0; i < n; i++)
    at += (size_t)snprintf(out + at, sizeof out - at, i == n / 2 ? "12:%02d panic: quota exceeded on volume xyz\n" : "12:%02d request %d served in %d ms\n", i, i * 7, i * 3);
  return (sc_text){out, at};
}

static void the_odd_line_is_found(void) {
  sc_document document = {text("log"), log_of(50)};
  sc_node_request request = {.family = SC_FAMILY_DISCOVER, .case_ = {.documents = {&document, 1}}};
  sc_node_response response = {0};
  discover(&request, &response);
  CHECK(response.artifact && response.artifact->discovery->findings.count == 1);
  sc_finding f = response.artifact->discovery->findings.at[0];
  CHECK(sc_equal(f.quote, text("12:25 panic: quota exceeded on volume xyz")));
  CHECK(f.strength > 0.4 && f.strength < 1);
}

static void a_log_of_one_kind_has_nothing(void) {
  sc_document document = {text("log"), text("request served in time\nrequest served in time\nrequest served in time\n")};
  sc_node_request request = {.family = SC_FAMILY_DISCOVER, .case_ = {.documents = {&document, 1}}};
  sc_node_response response = {0};
  discover(&request, &response);
  CHECK(response.artifact->discovery->findings.count == 0 && response.artifact->discovery->missing.count == 1);
  request.family = SC_FAMILY_VERDICT;
  discover(&request, &response);
  CHECK(response.failure && sc_equal(response.failure->code, text("wrong_family")));
}

static int64_t score_of(const char *opinion, double *confidence) {
  sc_criterion criterion = {.criterion_id = text("anomalies")};
  sc_evidence evidence = {.source_ref = text("log:L1"), .content = log_of(40)};
  sc_judge_request request = {.judge = text("j"), .opinion = {.text = text(opinion)}, .criteria = {&criterion, 1}, .evidence = {&evidence, 1}};
  sc_judge_response response = {0};
  judge(&request, &response);
  CHECK(response.opinions.count == 1 && sc_equal(response.opinions.at[0].cited_evidence.at[0], text("log:L1")));
  *confidence = response.opinions.at[0].relevance_confidence;
  return response.opinions.at[0].numeric_score;
}

static void an_opinion_should_speak_of_it(void) {
  double confidence;
  CHECK(score_of("The volume's quota was exceeded, hence the panic.", &confidence) == 5);
  CHECK(confidence > 0.6);
  CHECK(score_of("The network was slow.", &confidence) == 1);
}

static void mathematics(void) {
  CHECK(log_2(8) == 3 && log_2(0.25) == -2);
  CHECK(log_2(10) > 3.3219280948 && log_2(10) < 3.3219280949);
  CHECK(root(2) > 1.41421356237 && root(2) < 1.41421356238 && root(0) == 0 && root(1e-6) > 0.00099 && root(1e-6) < 0.00101);
}

int main(void) {
  the_odd_line_is_found();
  a_log_of_one_kind_has_nothing();
  an_opinion_should_speak_of_it();
  mathematics();
  printf(failures ? "%d checks failed\n" : "ok\n", failures);
  return failures != 0;
}
