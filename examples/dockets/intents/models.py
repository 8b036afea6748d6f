"""Small text models for Light and the witnesses. The same input gives the same output on every machine and Python.

Sums of floats use math.fsum, which does not depend on the order of the terms, and no model iterates over a set.
"""

import math
import re
from collections import Counter


def words(text):
    return re.findall(r"[a-z']+|[0-9]+|[?!]", text.lower())


def trigrams(text):
    text = " " + re.sub(r"\s+", " ", text.lower()) + " "
    return Counter(text[i : i + 3] for i in range(len(text) - 2))


def cosine(a, b):
    dot = math.fsum(weight * b.get(key, 0) for key, weight in a.items())
    return dot / math.sqrt(math.fsum(v * v for v in a.values()) * math.fsum(v * v for v in b.values()) or 1)


def document_frequency(texts):
    # dict.fromkeys drops repeated words and keeps their order; a set would leave ties to the hash seed.
    frequency = Counter()
    for text in texts:
        frequency.update(list(dict.fromkeys(words(text))))
    return frequency


class NaiveBayes:
    """Multinomial naive Bayes that knows only the `size` words that occur in most texts."""

    def __init__(self, examples, labels, size):
        self.labels = labels
        self.vocabulary = dict(document_frequency(text for text, _ in examples).most_common(size))
        self.texts = Counter(label for _, label in examples)
        self.counts = {label: Counter() for label in labels}
        for text, label in examples:
            self.counts[label].update(self.known(text))

    def known(self, text):
        return [word for word in words(text) if word in self.vocabulary]

    def classify(self, text, temperature):
        """The likeliest label, its probability, and the number of known words. The temperature flattens what words say."""
        known, scores = self.known(text), {}
        for label in self.labels:
            counts = self.counts[label]
            total = sum(counts.values()) + len(self.vocabulary)
            prior = (self.texts[label] + 1) / (sum(self.texts.values()) + len(self.labels))
            scores[label] = math.log(prior) + math.fsum(math.log((counts[word] + 1) / total) for word in known) / temperature
        best = max(self.labels, key=scores.get)
        return best, 1 / math.fsum(math.exp(score - scores[best]) for score in scores.values()), len(known)


class Centroids:
    """Compares a text's letter trigrams with the summed trigrams of each label."""

    def __init__(self, examples):
        self.centroids = {}
        for text, label in examples:
            damped = {gram: math.log1p(count) for gram, count in trigrams(text).items()}
            self.centroids.setdefault(label, Counter()).update(damped)

    def classify(self, text):
        """The nearest label, its cosine, and how far it is ahead of the next."""
        grams = trigrams(text)
        ranked = sorted(((cosine(grams, centroid), label) for label, centroid in self.centroids.items()), reverse=True)
        return ranked[0][1], ranked[0][0], ranked[0][0] - ranked[1][0]


class Nearest:
    """Finds the example that shares most words with a text, weighed by how rare they are."""

    UNKNOWN = 4  # the weight of a word that no example has

    def __init__(self, examples):
        frequency = document_frequency(text for text, _ in examples)
        self.weights = {word: math.log(len(examples) / n) + 0.3 for word, n in frequency.items()}
        self.examples = [(self._vector(text), text, label) for text, label in examples]

    def _vector(self, text):
        return {word: self.weights.get(word, self.UNKNOWN) for word in words(text)}

    def classify(self, text):
        """The label of the nearest example, and its cosine."""
        query = self._vector(text)
        similarity, _, label = max((cosine(query, vector), other, label) for vector, other, label in self.examples)
        return label, similarity
