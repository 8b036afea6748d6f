/* A judge of logs: which lines stand out, and does the text speak of them? */

#include "surprise.h"

SC_MANIFEST("surprise", "1.0.0",
  SC_LIST("node", "judge"),
  SC_LIST("discover"),
  SC_LIST(),
  SC_LIST("anomalies"),
  SC_LIST())

SC_NODE(discover)
SC_JUDGE(judge)

enum { MOST_LINES = 20000, MOST_FOUND = 8, QUOTE_BYTES = 400 };

/* Lines this many standard deviations above the mean stand out; min_deviations changes it. */
static const double DEVIATIONS = 2;

static double least_deviations(const sc_param_list *params) {
  const sc_param *p = sc_param_named(params, sc_lit("min_deviations"));
  return p && p->number && *p->number > 0 ? *p->number : DEVIATIONS;
}

static double above(const lines *all, const line *l) { return all->deviation > 0 ? (l->bits - all->mean) / all->deviation : 0; }

/* outstanding gives the lines that stand out, the most surprising first; of lines with the same text only one. */
static size_t outstanding(const lines *all, double least, const line **found) {
  size_t n = 0;
  for (size_t i = 0; i < all->count; i++) {
    const line *l = &all->at[i];
    if (above(all, l) < least) continue;
    bool known = false;
    for (size_t j = 0; j < n; j++) known |= sc_equal(found[j]->text, l->text);
    if (known) continue;
    size_t j = n < MOST_FOUND ? n++ : MOST_FOUND;
    for (; j > 0 && found[j - 1]->bits < l->bits; j--)
      if (j < MOST_FOUND) found[j] = found[j - 1];
    if (j < MOST_FOUND) found[j] = l;
  }
  return n;
}

/* tenths writes a number of 0 or more with one decimal. */
static sc_text tenths(double x) {
  int64_t n = (int64_t)(x * 10 + 0.5);
  return sc_join_of(sc_number(n / 10), sc_lit("."), sc_number(n % 10));
}

/* quote is the beginning of a line, ended where no character is split. */
static sc_text quote(sc_text t) {
  if (t.size > QUOTE_BYTES)
    for (t.size = QUOTE_BYTES; t.size > 0 && ((uint8_t)t.at[t.size] & 0xc0) == 0x80;) t.size--;
  return t;
}

/* ---- the persona ---- */

void discover(const sc_node_request *request, sc_node_response *response) {
  const sc_document_list *documents = &request->case_.documents;
  if (request->family != SC_FAMILY_DISCOVER) {
    response->failure = sc_fail(sc_lit("wrong_family"), sc_lit("this module plays discover"));
    return;
  }
  sc_discovery *d = sc_new(1, sizeof *d);
  d->findings.at = sc_new(documents->count * MOST_FOUND, sizeof(sc_finding));
  d->missing.at = sc_new(documents->count + 1, sizeof(sc_text));
  line *room = sc_new(MOST_LINES, sizeof *room);
  for (size_t i = 0; i < documents->count && d->findings.count <= 256 - MOST_FOUND && d->missing.count < 256; i++) {
    const line *found[MOST_FOUND + 1];
    lines all = {.at = room};
    split(&all, documents->at[i].text, i, MOST_LINES);
    measure(&all);
    size_t n = outstanding(&all, least_deviations(&request->params), found);
    for (size_t j = 0; j < n; j++) {
      double deviations = above(&all, found[j]);
      d->findings.at[d->findings.count++] = (sc_finding){
          .document = documents->at[i].name,
          .observation = sc_join_of(sc_lit("a line that stands out: "), tenths(found[j]->bits), sc_lit(" bits a character, "), tenths(deviations),
                                    sc_lit(" deviations above the document's mean")),
          .quote = quote(found[j]->text),
          .strength = deviations / (deviations + 4),
      };
    }
    if (n == 0) d->missing.at[d->missing.count++] = sc_join_of(sc_lit("no line of "), documents->at[i].name, sc_lit(" stands out from the others"));
  }
  if (documents->count == 0) d->missing.at[d->missing.count++] = sc_lit("the case has no documents to read");
  response->artifact = sc_new(1, sizeof *response->artifact);
  response->artifact->discovery = d;
}

/* ---- the judge ---- */

static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (uint8_t)c >= 0x80; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool holds_word(sc_text text, sc_text word) {
  for (size_t i = 0; i + word.size <= text.size; i++) {
    size_t n = 0;
    while (n < word.size && lower(text.at[i + n]) == lower(word.at[n])) n++;
    if (n == word.size && (i == 0 || !is_word(text.at[i - 1])) && (i + n == text.size || !is_word(text.at[i + n]))) return true;
  }
  return false;
}

/* speaks_of says whether the text has half of the line's words of 4 characters or more. */
static bool speaks_of(sc_text text, sc_text l) {
  size_t words = 0, held = 0;
  for (size_t i = 0; i < l.size;) {
    size_t end = i;
    while (end < l.size && is_word(l.at[end])) end++;
    if (end - i >= 4) {
      words++;
      held += holds_word(text, (sc_text){l.at + i, end - i});
    }
    i = end == i ? i + 1 : end;
  }
  return words > 0 && 2 * held >= words;
}

void judge(const sc_judge_request *request, sc_judge_response *response) {
  const sc_evidence_list *evidence = &request->evidence;
  lines all = {.at = sc_new(MOST_LINES, sizeof(line))};
  for (size_t i = 0; i < evidence->count; i++) split(&all, evidence->at[i].content, i, MOST_LINES);
  measure(&all);
  const line *found[MOST_FOUND + 1];
  size_t n = outstanding(&all, least_deviations(&request->params), found), spoken = 0;
  sc_texts cited = {sc_new(n, sizeof(sc_text)), 0};
  sc_text argument = sc_join_of(sc_number((int64_t)n), sc_lit(" of "), sc_number((int64_t)all.count), sc_lit(" lines stand out."));
  for (size_t i = 0; i < n; i++) {
    bool is = speaks_of(request->opinion.text, found[i]->text);
    sc_text ref = evidence->at[found[i]->source].source_ref;
    spoken += is;
    argument = sc_join_of(argument, is ? sc_lit(" The text speaks of \"") : sc_lit(" The text passes over \""), quote(found[i]->text), sc_lit("\" ("), ref, sc_lit(")."));
    bool known = false;
    for (size_t j = 0; j < cited.count; j++) known |= sc_equal(cited.at[j], ref);
    if (!known) cited.at[cited.count++] = ref;
  }
  response->opinions.at = sc_new(request->criteria.count, sizeof(sc_criterion_opinion));
  for (; response->opinions.count < request->criteria.count; response->opinions.count++)
    response->opinions.at[response->opinions.count] = (sc_criterion_opinion){
        .judge = request->judge,
        .criterion_id = request->criteria.at[response->opinions.count].criterion_id,
        .numeric_score = n == 0 ? 3 : 1 + (int64_t)(4 * spoken / n),
        .argument = argument,
        .cited_evidence = cited,
        /* A few lines are no log to stand out from. */
        .relevance_confidence = n == 0 ? 0 : (double)all.count / ((double)all.count + 20),
    };
}
