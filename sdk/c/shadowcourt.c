/* The codec: strict reading and canonical writing of the messages that the tables of shadowcourt_types.c describe. */

#include "shadowcourt.h"

#include "shadowcourt_arena.h"

enum { MAX_DEPTH = 32, SHOWN = 64 };

/* A step of a path: a field, an index where key is NULL, or a key to be quoted. */
typedef struct {
  const char *key;
  size_t size; /* of the key, or the index */
  bool quoted;
} step;

typedef struct {
  const uint8_t *at, *end;
  const char *code; /* of the problem, NULL while there is none */
  step steps[MAX_DEPTH + 2];
  unsigned count, depth;
} reader;

typedef enum { RESERVED, NIL, BOOL, INT, FLOAT, STRING, BINARY, EXTENSION, LIST, MAP } kind;

static kind kind_of(uint8_t c) {
  static const uint8_t kinds[32] = {
      NIL, RESERVED, BOOL, BOOL, BINARY, BINARY, BINARY, EXTENSION, EXTENSION, EXTENSION, FLOAT, FLOAT, INT, INT, INT, INT,
      INT, INT, INT, INT, EXTENSION, EXTENSION, EXTENSION, EXTENSION, EXTENSION, STRING, STRING, STRING, LIST, LIST, MAP, MAP,
  };
  if (c <= 0x7f || c >= 0xe0) return INT;
  if (c <= 0x8f) return MAP;
  if (c <= 0x9f) return LIST;
  if (c <= 0xbf) return STRING;
  return kinds[c - 0xc0];
}

/* ---- what is wrong, and where ---- */

static bool fail(reader *r, const char *code) {
  r->code = code;
  return false;
}

static void push(reader *r, const char *key, size_t size, bool quoted) { r->steps[r->count++] = (step){key, size, quoted}; }

static bool continues(char c) { return ((uint8_t)c & 0xc0) == 0x80; }

static bool is_name(const char *key, size_t size) {
  if (size == 0 || size > SHOWN) return false;
  for (size_t i = 0; i < size; i++) {
    char c = key[i];
    if (c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9')) return false;
  }
  return true;
}

/* quote writes a key as SPEC.md §3.11 has it, but takes every character beyond ASCII for a printable one. */
static sc_text quote(const char *key, size_t size) {
  static const char digits[] = "0123456789abcdef";
  static const char letters[] = "abtnvfr"; /* 7 to 13 */
  size_t shown = size;
  if (shown > SHOWN)
    for (shown = SHOWN; shown > 0 && continues(key[shown]);) shown--;
  char *out = sc_new(4 * shown + 8, 1);
  size_t n = 0;
  out[n++] = '[';
  out[n++] = '"';
  for (size_t i = 0; i < shown; i++) {
    uint8_t c = (uint8_t)key[i];
    if (c == '"' || c == '\\') {
      out[n++] = '\\';
      out[n++] = (char)c;
    } else if (c >= 7 && c <= 13) {
      out[n++] = '\\';
      out[n++] = letters[c - 7];
    } else if (c < 0x20 || c == 0x7f) {
      out[n++] = '\\';
      out[n++] = 'x';
      out[n++] = digits[c >> 4];
      out[n++] = digits[c & 15];
    } else {
      out[n++] = (char)c;
    }
  }
  if (shown < size)
    for (int i = 0; i < 3; i++) out[n++] = '.';
  out[n++] = '"';
  out[n++] = ']';
  return (sc_text){out, n};
}

static sc_text path_of(const reader *r) {
  sc_text path = {"", 0};
  for (unsigned i = 0; i < r->count; i++) {
    const step *s = &r->steps[i];
    if (!s->key)
      path = sc_join_of(path, sc_lit("["), sc_number((int64_t)s->size), sc_lit("]"));
    else if (s->quoted)
      path = sc_join_of(path, quote(s->key, s->size));
    else
      path = sc_join_of(path, i ? sc_lit(".") : sc_lit(""), ((sc_text){s->key, s->size}));
  }
  return path;
}

/* ---- tokens ---- */

static size_t rest(const reader *r) { return (size_t)(r->end - r->at); }

/* expect looks whether a value of the kind comes next. */
static bool expect(reader *r, kind want) {
  if (r->at == r->end) return fail(r, "truncated");
  kind got = kind_of(*r->at);
  if (got == want || (want == FLOAT && got == INT)) return true;
  if (got == NIL) return fail(r, "nil_value");
  if (got == EXTENSION) return fail(r, "extension_type");
  if (got == BINARY && want == STRING) return fail(r, "bin_for_string");
  return fail(r, got == RESERVED ? "reserved_byte" : "wrong_type");
}

/* number reads an unsigned number of n bytes, the most significant first. */
static bool number(reader *r, size_t n, uint64_t *out) {
  if (rest(r) < n) return fail(r, "truncated");
  *out = 0;
  for (size_t i = 0; i < n; i++) *out = *out << 8 | *r->at++;
  return true;
}

/* length reads the head of a string, list or map: the value after a fix head, or a number of 1, 2 or 4 bytes. first is the
 * head of the shortest of these, fix the mask of what a fix head holds. */
static bool length(reader *r, uint8_t fix, uint8_t first, unsigned shortest, uint64_t *out) {
  uint8_t head = *r->at++;
  if (head < 0xc0) {
    *out = head & fix;
    return true;
  }
  return number(r, (size_t)shortest << (head - first), out);
}

static bool string(reader *r, sc_text *out) {
  uint64_t n;
  if (!length(r, 0x1f, 0xd9, 1, &n)) return false;
  if (n > rest(r)) return fail(r, "bad_length");
  *out = (sc_text){(const char *)r->at, (size_t)n};
  r->at += n;
  return true;
}

/* enter begins a list or map of count elements, of parts values each. */
static bool enter(reader *r, kind want, unsigned parts, size_t *count) {
  uint64_t n;
  if (!expect(r, want)) return false;
  if (!length(r, 0x0f, want == LIST ? 0xdc : 0xde, 2, &n)) return false;
  if (n * parts > rest(r)) return fail(r, "bad_length");
  if (r->depth == MAX_DEPTH) return fail(r, "too_deep");
  r->depth++;
  *count = (size_t)n;
  return true;
}

static bool valid_utf8(sc_text t) {
  const uint8_t *p = (const uint8_t *)t.at, *end = p + t.size;
  while (p < end) {
    uint8_t c = *p++;
    if (c < 0x80) continue;
    unsigned more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    if (c < 0xc2 || c > 0xf4 || (size_t)(end - p) < more) return false;
    uint8_t low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80, high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (*p < low || *p > high) return false;
    for (p++; --more; p++)
      if ((*p & 0xc0) != 0x80) return false;
  }
  return true;
}

/* integer gives a number in 64 bits; big says that it is beyond the signed ones. */
static bool integer(reader *r, int64_t *out, bool *big) {
  uint8_t head = *r->at++;
  uint64_t n;
  *big = false;
  if (head <= 0x7f || head >= 0xe0) {
    *out = (int8_t)head;
    return true;
  }
  unsigned width = head & 3;
  if (!number(r, (size_t)1 << width, &n)) return false;
  if (head <= 0xcf)
    *big = n > INT64_MAX;
  else
    n = (uint64_t)(width == 0 ? (int8_t)n : width == 1 ? (int16_t)n : width == 2 ? (int32_t)n : (int64_t)n);
  *out = (int64_t)n;
  return true;
}

static bool real(reader *r, double *out) {
  uint64_t bits;
  int64_t n;
  bool big;
  if (kind_of(*r->at) == INT) {
    if (!integer(r, &n, &big)) return false;
    *out = big ? (double)(uint64_t)n : (double)n;
    return true;
  }
  bool wide = *r->at++ == 0xcb;
  if (!number(r, wide ? 8 : 4, &bits)) return false;
  if (wide) {
    __builtin_memcpy(out, &bits, sizeof *out);
  } else {
    uint32_t low = (uint32_t)bits;
    float f;
    __builtin_memcpy(&f, &low, sizeof f);
    *out = f;
  }
  if (!(*out - *out == 0)) return fail(r, "not_finite");
  if (*out == 0) *out = 0; /* not -0 */
  return true;
}

/* ---- values ---- */

typedef struct { void *at; size_t count; } list;

static bool within(const sc_field *f, double n) { return !(f->flags & SC_LEAST && n < f->least) && !(f->flags & SC_MOST && n > f->most); }

static size_t size_of(const sc_field *f) {
  switch (f->kind) {
    case SC_KIND_TEXT: return sizeof(sc_text);
    case SC_KIND_ENUM: return sizeof(sc_element);
    case SC_KIND_BOOL: return sizeof(bool);
    case SC_KIND_PAIRS: return sizeof(sc_pairs);
    case SC_KIND_STRUCT: return ((const sc_type *)f->of)->size;
    default: return 8;
  }
}

static int name_of(const sc_names *names, sc_text t) {
  for (size_t i = 0; i < names->count; i++)
    if (sc_equal(t, (sc_text){names->names[i], __builtin_strlen(names->names[i])})) return (int)i + 1;
  return 0;
}

static bool read_text(reader *r, const sc_field *f, sc_text *out) {
  if (!expect(r, STRING) || !string(r, out)) return false;
  if (out->size == 0 && f->flags & SC_NONEMPTY && !(f->flags & SC_LIST)) return fail(r, "empty");
  return valid_utf8(*out) || fail(r, "invalid_utf8");
}

static bool read_enum(reader *r, const sc_field *f, void *out) {
  sc_text t;
  if (!expect(r, STRING) || !string(r, &t)) return false;
  int value = name_of(f->of, t);
  if (value == 0 && !(t.size == 0 && f->flags & SC_OPTIONAL && !(f->flags & SC_LIST)))
    return fail(r, valid_utf8(t) ? "invalid_value" : "invalid_utf8");
  __builtin_memcpy(out, &value, sizeof value);
  return true;
}

static bool read_key(reader *r, sc_text *key) {
  if (r->at == r->end) return fail(r, "truncated");
  kind got = kind_of(*r->at);
  if (got != STRING) return fail(r, got == RESERVED ? "reserved_byte" : "wrong_type");
  return string(r, key) && (valid_utf8(*key) || fail(r, "invalid_utf8"));
}

static bool read_count(reader *r, const sc_field *f, size_t n) {
  if (n == 0 && f->flags & SC_NONEMPTY) return fail(r, "empty");
  if (n < f->min_count || (f->max_count && n > f->max_count)) return fail(r, "bad_count");
  return true;
}

static bool read_struct(reader *r, const sc_type *type, char *out);

static bool read_pairs(reader *r, const sc_field *f, sc_pairs *out) {
  size_t n;
  if (!enter(r, MAP, 2, &n) || !read_count(r, f, n)) return false;
  out->at = sc_new(n, sizeof(sc_pair));
  static const sc_field any;
  for (out->count = 0; out->count < n; out->count++) {
    sc_pair *p = &out->at[out->count];
    if (!read_key(r, &p->key)) return false;
    push(r, p->key.at, p->key.size, true);
    for (size_t i = 0; i < out->count; i++)
      if (sc_equal(out->at[i].key, p->key)) return fail(r, "duplicate_key");
    if (!read_text(r, &any, &p->value)) return false;
    r->count--;
  }
  r->depth--;
  return true;
}

static bool read_one(reader *r, const sc_field *f, char *out) {
  switch (f->kind) {
    case SC_KIND_TEXT: return read_text(r, f, (sc_text *)out);
    case SC_KIND_ENUM: return read_enum(r, f, out);
    case SC_KIND_STRUCT: return read_struct(r, f->of, out);
    case SC_KIND_PAIRS: return read_pairs(r, f, (sc_pairs *)out);
    case SC_KIND_BOOL:
      if (!expect(r, BOOL)) return false;
      *(bool *)out = *r->at++ == 0xc3;
      return true;
    case SC_KIND_INT: {
      int64_t n;
      bool big;
      if (!expect(r, INT) || !integer(r, &n, &big)) return false;
      *(int64_t *)out = n;
      return (!big && within(f, (double)n)) || fail(r, "out_of_range");
    }
    default: {
      double d;
      if (!expect(r, FLOAT) || !real(r, &d)) return false;
      *(double *)out = d;
      return within(f, d) || fail(r, "out_of_range");
    }
  }
}

static bool read_list(reader *r, const sc_field *f, char *out) {
  list l;
  if (!enter(r, LIST, 1, &l.count) || !read_count(r, f, l.count)) return false;
  size_t size = size_of(f);
  /* An element takes a byte of the message at least, so this is bounded by it. */
  l.at = sc_new(l.count, size);
  for (size_t i = 0; i < l.count; i++) {
    push(r, 0, i, false);
    if (!read_one(r, f, (char *)l.at + i * size)) return false;
    r->count--;
  }
  r->depth--;
  __builtin_memcpy(out, &l, sizeof l);
  return true;
}

static bool read_field(reader *r, const sc_field *f, char *out) {
  if (f->flags & SC_LIST) return read_list(r, f, out);
  if (!(f->flags & SC_POINTER)) return read_one(r, f, out);
  void *value = sc_new(1, size_of(f));
  __builtin_memcpy(out, &value, sizeof value);
  return read_one(r, f, value);
}

static size_t find(const sc_type *type, sc_text key, size_t hint) {
  for (size_t n = 0; n < type->count; n++) {
    size_t i = (hint + n) % type->count;
    if (sc_equal(key, (sc_text){type->fields[i].name, type->fields[i].size})) return i;
  }
  return type->count;
}

static bool read_struct(reader *r, const sc_type *type, char *out) {
  size_t n, i = 0;
  uint64_t seen = 0;
  if (!enter(r, MAP, 2, &n)) return false;
  for (size_t f = 0; f < type->count; f++)
    if (type->fields[f].kind == SC_KIND_TEXT && type->fields[f].of) {
      const char *text = type->fields[f].of;
      *(sc_text *)(out + type->fields[f].offset) = (sc_text){text, __builtin_strlen(text)};
    }
  while (n--) {
    sc_text key;
    if (!read_key(r, &key)) return false;
    i = find(type, key, i);
    push(r, key.at, key.size, i == type->count && !is_name(key.at, key.size));
    if (i == type->count) return fail(r, "unknown_field");
    if (seen >> i & 1) return fail(r, "duplicate_key");
    seen |= (uint64_t)1 << i;
    if (!read_field(r, &type->fields[i], out + type->fields[i].offset)) return false;
    r->count--;
    i++;
  }
  for (i = 0; i < type->count; i++)
    if (type->fields[i].flags & SC_REQUIRED && !(seen >> i & 1)) {
      push(r, type->fields[i].name, type->fields[i].size, false);
      return fail(r, "missing_field");
    }
  r->depth--;
  return true;
}

bool sc_read(const sc_type *type, const void *message, size_t size, void *value, sc_problem *problem) {
  reader r = {.at = message, .end = (const uint8_t *)message + size};
  __builtin_memset(value, 0, type->size);
  if (read_struct(&r, type, value)) {
    if (r.at == r.end) return true;
    fail(&r, "trailing_bytes");
  }
  if (problem) *problem = (sc_problem){{r.code, __builtin_strlen(r.code)}, path_of(&r)};
  return false;
}

/* ---- writing ---- */

typedef struct { uint8_t *at; size_t size, room; } writer;

static uint8_t *put(writer *w, size_t n) {
  if (w->room - w->size < n) {
    size_t room = 2 * w->room + n + 256;
    uint8_t *at = sc_new(room, 1);
    if (w->size) __builtin_memcpy(at, w->at, w->size);
    w->at = at;
    w->room = room;
  }
  uint8_t *at = w->at + w->size;
  w->size += n;
  return at;
}

/* head writes a head byte and n bytes of a number behind it. */
static void head(writer *w, uint8_t code, uint64_t number, unsigned n) {
  uint8_t *at = put(w, n + 1);
  *at++ = code;
  while (n--) *at++ = (uint8_t)(number >> 8 * n);
}

static void write_text(writer *w, sc_text t) {
  if (t.size < 32)
    head(w, (uint8_t)(0xa0 | t.size), 0, 0);
  else if (t.size <= 0xff)
    head(w, 0xd9, t.size, 1);
  else if (t.size <= 0xffff)
    head(w, 0xda, t.size, 2);
  else
    head(w, 0xdb, t.size, 4);
  if (t.size) __builtin_memcpy(put(w, t.size), t.at, t.size);
}

static void write_count(writer *w, kind k, size_t n) {
  if (n < 16)
    head(w, (uint8_t)((k == LIST ? 0x90 : 0x80) | n), 0, 0);
  else if (n <= 0xffff)
    head(w, k == LIST ? 0xdc : 0xde, n, 2);
  else
    head(w, k == LIST ? 0xdd : 0xdf, n, 4);
}

static void write_integer(writer *w, int64_t n) {
  uint64_t bits = (uint64_t)n;
  if (n >= -32 && n <= 127)
    head(w, (uint8_t)n, 0, 0);
  else if (n >= 0)
    n <= 0xff ? head(w, 0xcc, bits, 1) : n <= 0xffff ? head(w, 0xcd, bits, 2) : n <= 0xffffffff ? head(w, 0xce, bits, 4) : head(w, 0xcf, bits, 8);
  else
    n >= INT8_MIN ? head(w, 0xd0, bits, 1) : n >= INT16_MIN ? head(w, 0xd1, bits, 2) : n >= INT32_MIN ? head(w, 0xd2, bits, 4) : head(w, 0xd3, bits, 8);
}

static void write_float(writer *w, double d) {
  uint64_t bits;
  if (d == 0) d = 0; /* not -0 */
  __builtin_memcpy(&bits, &d, sizeof bits);
  head(w, 0xcb, bits, 8);
}

static bool before(sc_text a, sc_text b) {
  size_t n = a.size < b.size ? a.size : b.size;
  for (size_t i = 0; i < n; i++)
    if (a.at[i] != b.at[i]) return (uint8_t)a.at[i] < (uint8_t)b.at[i];
  return a.size < b.size;
}

static void write_pairs(writer *w, const sc_pairs *pairs) {
  sc_pair *sorted = sc_new(pairs->count, sizeof *sorted);
  for (size_t i = 0; i < pairs->count; i++) {
    size_t j = i;
    for (; j > 0 && before(pairs->at[i].key, sorted[j - 1].key); j--) sorted[j] = sorted[j - 1];
    sorted[j] = pairs->at[i];
  }
  write_count(w, MAP, pairs->count);
  for (size_t i = 0; i < pairs->count; i++) {
    write_text(w, sorted[i].key);
    write_text(w, sorted[i].value);
  }
}

static void write_struct(writer *w, const sc_type *type, const char *value);

static void write_one(writer *w, const sc_field *f, const char *value) {
  switch (f->kind) {
    case SC_KIND_TEXT: write_text(w, *(const sc_text *)value); break;
    case SC_KIND_BOOL: head(w, *(const bool *)value ? 0xc3 : 0xc2, 0, 0); break;
    case SC_KIND_INT: write_integer(w, *(const int64_t *)value); break;
    case SC_KIND_FLOAT: write_float(w, *(const double *)value); break;
    case SC_KIND_STRUCT: write_struct(w, f->of, value); break;
    case SC_KIND_PAIRS: write_pairs(w, (const sc_pairs *)value); break;
    case SC_KIND_ENUM: {
      unsigned n;
      __builtin_memcpy(&n, value, sizeof n);
      const sc_names *names = f->of;
      const char *name = n > 0 && n <= names->count ? names->names[n - 1] : "";
      write_text(w, (sc_text){name, __builtin_strlen(name)});
    }
  }
}

/* absent says whether an optional field has no value. */
static bool absent(const sc_field *f, const char *value) {
  if (!(f->flags & SC_OPTIONAL)) return false;
  if (f->flags & SC_POINTER) {
    const void *p;
    __builtin_memcpy(&p, value, sizeof p);
    return !p;
  }
  if (f->flags & SC_LIST || f->kind == SC_KIND_PAIRS) {
    list l;
    __builtin_memcpy(&l, value, sizeof l);
    return l.count == 0;
  }
  if (f->kind == SC_KIND_TEXT) return ((const sc_text *)value)->size == 0;
  sc_element e; /* all enumerations are alike */
  __builtin_memcpy(&e, value, sizeof e);
  return e == 0;
}

static void write_struct(writer *w, const sc_type *type, const char *value) {
  size_t n = 0;
  for (size_t i = 0; i < type->count; i++) n += !absent(&type->fields[i], value + type->fields[i].offset);
  write_count(w, MAP, n);
  for (size_t i = 0; i < type->count; i++) {
    const sc_field *f = &type->fields[i];
    const char *at = value + f->offset;
    if (absent(f, at)) continue;
    write_text(w, (sc_text){f->name, f->size});
    if (f->flags & SC_POINTER) {
      const char *value_at;
      __builtin_memcpy(&value_at, at, sizeof(void *));
      at = value_at;
    }
    if (!(f->flags & SC_LIST)) {
      write_one(w, f, at);
      continue;
    }
    list l;
    __builtin_memcpy(&l, at, sizeof l);
    write_count(w, LIST, l.count);
    for (size_t j = 0; j < l.count; j++) write_one(w, f, (const char *)l.at + j * size_of(f));
  }
}

sc_text sc_write(const sc_type *type, const void *value) {
  writer w = {0};
  write_struct(&w, type, value);
  return (sc_text){(const char *)w.at, w.size};
}
