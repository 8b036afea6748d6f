"""Cases from BANKING77: which of eight intents about card payments does a message to a bank have?"""

import random
import re

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from cases import case, chance, identifier, item, light
from models import Centroids, NaiveBayes

INTENTS = {
    "pending_card_payment": "pending",
    "declined_card_payment": "declined",
    "card_payment_not_recognised": "unrecognised",
    "card_payment_fee_charged": "fee",
    "transaction_charged_twice": "twice",
    "card_payment_wrong_exchange_rate": "rate",
    "extra_charge_on_statement": "extra",
    "reverted_card_payment?": "reverted",
}
LABELS = list(INTENTS.values())
PER_LABEL = 50  # cases of each label in each half

# The first of these that the message contains, also inside of a longer word, decides.
KEYWORDS = {
    "twice": "twice", "double": "twice", "pending": "pending", "declin": "declined",
    "exchange": "rate", "rate": "rate", "fee": "fee", "revert": "reverted",
}


class Witnesses:
    def __init__(self, examples):
        examples = list(examples)
        random.Random(3).shuffle(examples)
        self.bayes = NaiveBayes(examples[:90], LABELS, size=25)
        self.centroids = Centroids(examples[90:140])
        self.vader = SentimentIntensityAnalyzer()

    def light(self, text):
        label, probability, known = self.bayes.classify(text, temperature=1.3)
        return light(label, probability, f"Naive Bayes over {known} common words.")

    def evidence(self, ident, text):
        keyword = next((word for word in KEYWORDS if word in text.lower()), None)
        if keyword and chance(ident, "kw") < 0.55:
            yield item("keyword-index", f'The word "{keyword}" is in the customer\'s message.', 0.72, KEYWORDS[keyword])
        label, similarity, lead = self.centroids.classify(text)
        if lead > 0.01:
            content = f"Fifty earlier messages: the nearest group is {label}, similarity {similarity:.2f}."
            yield item("shape-match", content, 0.5 + 2 * lead, label)
        length = len(text.split())
        if length <= 7 or length >= 20:
            yield item("message-length", f"The message has {length} words.", 0.9, "extra" if length <= 7 else "unrecognised")
        mood = self.vader.polarity_scores(text)["compound"]
        if mood < -0.2:
            content = f"VADER's compound score is {mood:.2f}: the customer is upset."
            yield item("mood", content, 0.55 + 0.3 * abs(mood), "declined")
        if re.search(r"[£$€]|\d", text):
            yield item("amounts", "The message names an amount.", 0.6, "extra")


def halves(sources):
    rows = [(re.sub(r"\s+", " ", text).strip(), INTENTS[intent]) for text, intent in sources.banking77() if intent in INTENTS]
    rows = list(dict.fromkeys(rows))
    random.Random(11).shuffle(rows)
    texts = {label: [text for text, of in rows if of == label] for label in LABELS}

    def part(start, end=None):
        return [(text, label) for label in LABELS for text in texts[label][start:end]]

    witnesses = Witnesses(part(2 * PER_LABEL))
    for half in (part(0, PER_LABEL), part(PER_LABEL, 2 * PER_LABEL)):
        yield sorted((banking_case(witnesses, text, label) for text, label in half), key=lambda made: made["id"])


def banking_case(witnesses, text, label):
    ident = identifier("bk-", text)
    return case(
        ident, None, "A message to the bank: which intent", LABELS, witnesses.light(text), witnesses.evidence(ident, text),
        {"name": "message", "text": text}, label,
    )
