/* How surprising a line of a log is, beside the log's other lines. */
#ifndef MODEL_H
#define MODEL_H

#include "shadowcourt.h"

/* A line, where it came from, and its surprise in bits for a character. */
typedef struct {
  sc_text text;
  size_t source;
  double bits;
} line;

typedef struct {
  line *at;
  size_t count;
  double mean, deviation; /* of the bits of all lines */
} lines;

/* split appends the lines of a text that have something to say: 8 characters or more without the white space at their ends.
 * No more than most lines are taken in all, and of a line 1,000 bytes. */
void split(lines *all, sc_text text, size_t source, size_t most);

/* measure gives each line its surprise under a model of all the others. */
void measure(lines *all);

/* Logarithm to base 2 of a positive number, and the square root; the same on every machine. */
double log_2(double x);
double root(double x);

#endif
