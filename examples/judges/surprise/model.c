/* A model of characters: how probable each is after the two before it. A line's surprise is the mean of -log2 p over its
 * characters, under counts that leave the line itself out. Digits count as one character, so that times and counters
 * are no news. */

#include "model.h"

enum { SLOTS = 1 << 16, LINE_BYTES = 1000 };

typedef struct { uint32_t three[SLOTS], two[SLOTS], one[256], all; } counts;

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

void split(lines *all, sc_text text, size_t source, size_t most) {
  size_t begin = 0;
  for (size_t i = 0; i <= text.size; i++) {
    if (i < text.size && text.at[i] != '\n') continue;
    size_t from = begin, to = i;
    begin = i + 1;
    while (from < to && is_space(text.at[from])) from++;
    while (to > from && is_space(text.at[to - 1])) to--;
    if (to - from < 8 || all->count == most) continue;
    size_t size = to - from < LINE_BYTES ? to - from : LINE_BYTES;
    all->at[all->count++] = (line){{text.at + from, size}, source, 0};
  }
}

/* folded is a character as the model sees it. */
static uint8_t folded(char c) {
  if (c >= '0' && c <= '9') return '0';
  if (c >= 'A' && c <= 'Z') return (uint8_t)(c - 'A' + 'a');
  return is_space(c) ? ' ' : (uint8_t)c;
}

static uint32_t slot(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t h = (a << 16 | b << 8 | c) * 2654435761u;
  return h >> 16;
}

/* add counts a line, or takes it out again. */
static void add(counts *n, sc_text t, uint32_t by) {
  uint8_t a = 0, b = 0;
  for (size_t i = 0; i < t.size; i++) {
    uint8_t c = folded(t.at[i]);
    n->three[slot(a, b, c)] += by;
    n->two[slot(1, a, b)] += by;
    n->one[c] += by;
    n->all += by;
    a = b;
    b = c;
  }
}

/* surprise mixes what the two characters before say with how frequent the character is at all: the more often the two were
 * seen, the more they say (Witten and Bell, with a fixed number of continuations). */
static double surprise(const counts *n, sc_text t) {
  double bits = 0;
  uint8_t a = 0, b = 0;
  for (size_t i = 0; i < t.size; i++) {
    uint8_t c = folded(t.at[i]);
    double alone = (n->one[c] + 0.5) / (n->all + 128.0);
    double context = n->two[slot(1, a, b)];
    double p = (n->three[slot(a, b, c)] + 4 * alone) / (context + 4);
    bits -= log_2(p);
    a = b;
    b = c;
  }
  return bits / (double)t.size;
}

void measure(lines *all) {
  static counts room; /* used again for the next document */
  counts *n = &room;
  __builtin_memset(n, 0, sizeof *n);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < all->count; i++) add(n, all->at[i].text, 1);
  for (size_t i = 0; i < all->count; i++) {
    line *l = &all->at[i];
    add(n, l->text, (uint32_t)-1);
    l->bits = surprise(n, l->text);
    add(n, l->text, 1);
    sum += l->bits;
  }
  if (all->count == 0) return;
  all->mean = sum / (double)all->count;
  for (size_t i = 0; i < all->count; i++) squares += (all->at[i].bits - all->mean) * (all->at[i].bits - all->mean);
  all->deviation = root(squares / (double)all->count);
}

double log_2(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  bits = (bits & 0xfffffffffffffu) | 0x3ff0000000000000u;
  __builtin_memcpy(&x, &bits, sizeof x); /* in [1, 2) */
  if (x > 1.4142135623730951) {
    x /= 2;
    exponent++;
  }
  double y = (x - 1) / (x + 1), square = y * y, term = y, sum = 0; /* ln x = 2 artanh y */
  for (int k = 1; k < 24; k += 2, term *= square) sum += term / k;
  return exponent + 2 * sum / 0.6931471805599453;
}

double root(double x) {
  if (!(x > 0)) return 0;
  double r = x > 1 ? x : 1;
  for (int i = 0; i < 64; i++) {
    double next = (r + x / r) / 2;
    if (next >= r) break;
    r = next;
  }
  return r;
}
