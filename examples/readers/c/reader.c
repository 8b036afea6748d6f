/* A persona that reads the documents with a language model: for each label of the case it asks which line speaks most for it, and quotes
 * that line. The model answers with a number, so that whatever a document makes it say, all that it can do is choose a line. */

#include "shadowcourt.h"

SC_MANIFEST("line-reader", "1.0.0",
  SC_LIST("node"),
  SC_LIST("discover"), /* families */
  SC_LIST(),           /* edge rules */
  SC_LIST(),           /* criteria */
  SC_LIST())           /* capabilities */

sc_completion *ask(const sc_node_request *request);
void node(const sc_node_request *request, sc_node_response *response);
SC_NODE_MODELS(ask, node)

#define SCHEMA sc_lit( \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"line\"],\"properties\":{\"line\":{\"type\":\"integer\",\"minimum\":0}}}")
enum { ANSWER_TOKENS = 50 };

/* next_line cuts the first line off a text. */
static sc_text next_line(sc_text *text) {
  size_t n = 0;
  while (n < text->size && text->at[n] != '\n') n++;
  sc_text line = {text->at, n};
  n += n < text->size;
  *text = (sc_text){text->at + n, text->size - n};
  return line;
}

/* numbered gives as many lines as the model has room for, with their numbers. */
static sc_text numbered(const sc_node_request *request, const sc_model_offer *offer) {
  const sc_document_list *documents = &request->case_.documents;
  int64_t room = 3 * (offer->context_tokens - ANSWER_TOKENS) - (int64_t)request->prompt.size - 1000;
  sc_text out = {sc_new(room > 0 ? (size_t)room : 1, 1), 0};
  int64_t n = 0;
  for (size_t d = 0; d < documents->count; d++)
    for (sc_text left = documents->at[d].text; left.size;) {
      sc_text line = next_line(&left), row = sc_join_of(sc_number(++n), sc_lit("| "), line, sc_lit("\n"));
      if ((int64_t)(out.size + row.size) > room) return out;
      __builtin_memcpy((char *)out.at + out.size, row.at, row.size);
      out.size += row.size;
    }
  return out;
}

/* Asks about one label after the other, as long as there are answers. Every call starts anew: the results in the request say how far it is. */
sc_completion *ask(const sc_node_request *request) {
  if (request->family != SC_FAMILY_DISCOVER || request->completions.count >= request->case_.labels.count) return NULL;
  if (request->completions.count && sc_no_answer(&request->completions.at[request->completions.count - 1])) return NULL;
  sc_text lines = numbered(request, request->models.at);
  if (!lines.size) return NULL;
  sc_text label = request->case_.labels.at[request->completions.count];
  sc_completion *c = sc_completion_new(request->models.at, ANSWER_TOKENS, request->prompt,
    sc_join_of(lines, sc_lit("\nWhich of these lines speaks most for the label \""), label, sc_lit("\"? 0 if none does.")));
  c->schema = SCHEMA;
  return c;
}

/* number gives the number in an answer. The schema lets no other stand there. */
static uint64_t number(sc_text answer) {
  uint64_t n = 0;
  size_t i = 0;
  while (i < answer.size && (answer.at[i] < '0' || answer.at[i] > '9')) i++;
  for (; i < answer.size && answer.at[i] >= '0' && answer.at[i] <= '9' && n < UINT32_MAX; i++) n = 10 * n + (uint64_t)(answer.at[i] - '0');
  return n;
}

/* quoted finds the line of a number, and says whether there is anything in it. */
static bool quoted(const sc_document_list *documents, uint64_t n, sc_finding *finding) {
  for (size_t d = 0; d < documents->count; d++)
    for (sc_text left = documents->at[d].text; left.size;) {
      sc_text line = next_line(&left);
      if (n-- != 1) continue;
      finding->document = documents->at[d].name;
      finding->quote = line;
      for (size_t i = 0; i < line.size; i++)
        if ((unsigned char)line.at[i] > ' ') return true;
      return false;
    }
  return false;
}

void node(const sc_node_request *request, sc_node_response *response) {
  if (request->family != SC_FAMILY_DISCOVER) {
    response->failure = sc_fail(sc_lit("wrong_family"), sc_lit("this module plays discover"));
    return;
  }
  const sc_texts *labels = &request->case_.labels;
  sc_discovery *discovery = sc_new(1, sizeof *discovery);
  discovery->findings.at = sc_new(labels->count, sizeof(sc_finding));
  discovery->missing.at = sc_new(labels->count + 1, sizeof(sc_text));
  if (!request->completions.count) discovery->missing.at[discovery->missing.count++] = sc_lit("no language model was asked");
  for (size_t i = 0; i < labels->count && i < request->completions.count; i++) {
    const sc_completion_result *result = &request->completions.at[i];
    if ((response->failure = sc_no_answer(result))) return;
    sc_finding finding = {
        .observation = sc_join_of(sc_lit("the model chose it for "), labels->at[i]),
        .supports = labels->at[i],
        .strength = 0.6,
        .source = sc_join_of(sc_lit("model:"), result->model),
    };
    if (quoted(&request->case_.documents, number(result->answers.at[0]), &finding))
      discovery->findings.at[discovery->findings.count++] = finding;
    else
      discovery->missing.at[discovery->missing.count++] = sc_join_of(sc_lit("the model names no line for "), labels->at[i]);
  }
  response->artifact = sc_new(1, sizeof *response->artifact);
  response->artifact->discovery = discovery;
}
