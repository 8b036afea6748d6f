/* The arena, and what stands around a call. */

#include "shadowcourt_arena.h"

#ifdef __wasm__

extern unsigned char __heap_base; /* of the linker: behind data and stack */
static uintptr_t next, kept;
static uintptr_t dirty; /* behind it memory has never been written, so it is zero */

void *sc_room(size_t n) {
  if (!next) next = ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
  uintptr_t at = next, have = __builtin_wasm_memory_size(0) << 16;
  if (n > UINT32_MAX - at - 0x10000) return NULL;
  uintptr_t end = (at + n + 15) & ~(uintptr_t)15;
  if (end > have && __builtin_wasm_memory_grow(0, (end - have + 0xffff) >> 16) == SIZE_MAX) return NULL;
  next = end;
  if (at < dirty) __builtin_memset((void *)at, 0, (end < dirty ? end : dirty) - at);
  return (void *)at;
}

/* What was allocated so far stays: the arena of the calls that follow begins behind it. */
static void keep(void) { kept = next; }

/* The host asks for the room of a request: a call begins. The arena begins anew, behind what was kept, also for measurements that call
 * an instance again and again. */
SC_EXPORT("shadowcourt_alloc") void *shadowcourt_alloc(uint32_t size);
void *shadowcourt_alloc(uint32_t size) {
  if (next > dirty) dirty = next;
  next = kept;
  return sc_room(size ? size : 1);
}

/* What compilers call without being asked; with bulk memory these are single instructions. */
#ifdef __wasm_bulk_memory__
void *memcpy(void *to, const void *from, size_t n) { return __builtin_memcpy(to, from, n); }
void *memmove(void *to, const void *from, size_t n) { return __builtin_memmove(to, from, n); }
void *memset(void *to, int c, size_t n) { return __builtin_memset(to, c, n); }
#else
#error "compile with -mbulk-memory"
#endif

size_t strlen(const char *s) {
  const char *end = s;
  while (*end) end++;
  return (size_t)(end - s);
}

int memcmp(const void *a, const void *b, size_t n) {
  const unsigned char *x = a, *y = b;
  for (; n--; x++, y++)
    if (*x != *y) return *x - *y;
  return 0;
}

#else

#include <stdlib.h>

void *sc_room(size_t n) { return calloc(1, n ? n : 1); }

static void keep(void) {} /* nothing is freed */

#endif

void *sc_new(size_t count, size_t size) {
  void *at = size && count > SIZE_MAX / size ? NULL : sc_room(count * size);
  if (!at) __builtin_trap();
  return at;
}

bool sc_equal(sc_text a, sc_text b) { return a.size == b.size && (a.size == 0 || __builtin_memcmp(a.at, b.at, a.size) == 0); }

sc_text sc_join(const sc_text *parts, size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; i++) size += parts[i].size;
  char *at = sc_new(size, 1), *end = at;
  for (size_t i = 0; i < count; end += parts[i].size, i++)
    if (parts[i].size) __builtin_memcpy(end, parts[i].at, parts[i].size);
  return (sc_text){at, size};
}

sc_text sc_number(int64_t n) {
  char *at = sc_new(20, 1), *end = at + 20, *begin = end;
  uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
  do *--begin = (char)('0' + left % 10);
  while (left /= 10);
  if (n < 0) *--begin = '-';
  return (sc_text){begin, (size_t)(end - begin)};
}

sc_failure *sc_fail(sc_text code, sc_text message) {
  sc_failure *f = sc_new(1, sizeof *f);
  *f = (sc_failure){code, message};
  return f;
}

sc_completion *sc_completion_new(const sc_model_offer *offer, int64_t tokens, sc_text system, sc_text user) {
  sc_completion *c = sc_new(1, sizeof *c);
  *c = (sc_completion){.model = offer->model, .answer_tokens = tokens < offer->answer_tokens ? tokens : offer->answer_tokens, .samples = 1};
  c->messages.at = sc_new(2, sizeof(sc_chat_message));
  if (system.size) c->messages.at[c->messages.count++] = (sc_chat_message){SC_CHAT_ROLE_SYSTEM, system};
  if (user.size) c->messages.at[c->messages.count++] = (sc_chat_message){SC_CHAT_ROLE_USER, user};
  return c;
}

sc_failure *sc_no_answer(const sc_completion_result *result) {
  if (result->answers.count) return NULL;
  const char *outcome = sc_completion_outcome_names.names[result->outcome - 1];
  return sc_fail(sc_join_of(sc_lit("model_"), ((sc_text){outcome, __builtin_strlen(outcome)})), result->detail);
}

const sc_param *sc_param_named(const sc_param_list *params, sc_text name) {
  for (size_t i = 0; i < params->count; i++)
    if (sc_equal(params->at[i].name, name)) return &params->at[i];
  return NULL;
}

sc_text sc_serve(const sc_type *asks, const sc_type *answers, size_t failure, sc_handler handler, const void *message, size_t size) {
  void *request = sc_new(1, asks->size);
  char *response = sc_new(1, answers->size);
  sc_problem problem;
  if (sc_read(asks, message, size, request, &problem)) {
    handler(request, response);
  } else {
    sc_failure *f = sc_fail(sc_lit("bad_request"), sc_join_of(problem.path, problem.path.size ? sc_lit(": ") : sc_lit(""), problem.code));
    __builtin_memcpy(response + failure, &f, sizeof f);
  }
  return sc_write(answers, response);
}

/* ---- preparation ---- */

static sc_prepare_request prepared;

void sc_prepare(const sc_prepare_request *request, sc_prepare_response *response) {
  (void)response;
  prepared.digest = request->digest;
  if (request->profile) prepared.profile = request->profile;
  if (request->case_) prepared.case_ = request->case_;
  keep();
}

static sc_failure *not_prepared(sc_text field) {
  return sc_fail(sc_lit("bad_request"), sc_join_of(sc_lit("prepared."), field, sc_lit(": the module was prepared with something else")));
}

/* elements gives those at some indexes of a list, or NULL where one is beyond it. */
static void *elements(const void *list, size_t count, size_t size, const sc_ints *indexes) {
  char *some = sc_new(indexes->count, size);
  for (size_t i = 0; i < indexes->count; i++) {
    if ((uint64_t)indexes->at[i] >= count) return NULL;
    __builtin_memcpy(some + i * size, (const char *)list + (size_t)indexes->at[i] * size, size);
  }
  return some;
}

/* complete adds the parts of the prepared profile that a request leaves out, which share its texts and lists. */
static sc_failure *complete(const sc_prepared *with, sc_profile **profile) {
  if (!with) return NULL;
  const sc_profile_parts *parts = with->profile;
  if (!sc_equal(with->digest, prepared.digest)) return not_prepared(sc_lit("digest"));
  if (!parts) return NULL;
  if (!prepared.profile) return not_prepared(sc_lit("profile"));
  sc_profile *p = *profile = sc_new(1, sizeof *p);
  *p = *prepared.profile;
  if (!parts->outcomes) p->outcomes = NULL;
  if (parts->all) return NULL;
  p->signals.at = elements(p->signals.at, p->signals.count, sizeof *p->signals.at, &parts->signals);
  p->signals.count = parts->signals.count;
  p->sources.at = elements(p->sources.at, p->sources.count, sizeof *p->sources.at, &parts->sources);
  p->sources.count = parts->sources.count;
  return p->signals.at && p->sources.at ? NULL : not_prepared(sc_lit("profile"));
}

sc_failure *sc_contest_complete(sc_contest_request *request) {
  const sc_prepared *with = request->prepared;
  request->prepared = NULL;
  return complete(with, &request->profile);
}

sc_failure *sc_node_complete(sc_node_request *request) {
  const sc_prepared *with = request->prepared;
  const sc_case_view *view = prepared.case_;
  sc_case_view *own = &request->case_;
  request->prepared = NULL;
  sc_failure *failure = complete(with, &request->profile);
  if (failure || !with || !with->case_) return failure;
  if (!view) return not_prepared(sc_lit("case"));
  if (!own->subject.size) own->subject = view->subject;
  if (!own->labels.count) own->labels = view->labels;
  if (!own->light) own->light = view->light;
  if (!own->evidence.count) own->evidence = view->evidence;
  if (!own->documents.count) own->documents = view->documents;
  if (!own->signals.count) own->signals = view->signals;
  return NULL;
}

bool sc_ask(sc_function function, const sc_type *asks, const void *query, const sc_type *answers, void *answer) {
  enum { ROOM = 8 << 10 }; /* for most answers */
  sc_text request = sc_write(asks, query);
  size_t room = ROOM;
  for (int i = 0; i < 2; i++) { /* once more with the room that the host says the answer needs */
    void *at = sc_new(room, 1);
    size_t n = (uint32_t)function(request.at, request.size, at, room);
    if (n == 0) {
      __builtin_memset(answer, 0, answers->size);
      return true;
    }
    if (n <= room) return sc_read(answers, at, n, answer, NULL);
    room = n;
  }
  return false;
}
