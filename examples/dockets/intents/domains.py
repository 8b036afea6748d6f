"""Cases from CLINC150: to which of six domains does an utterance to an assistant belong?"""

import random
from collections import Counter

from cases import case, chance, identifier, item, light
from models import Centroids, Nearest, NaiveBayes, words

LABELS = ["banking", "credit_cards", "travel", "auto_and_commute", "home", "utility"]
INTENTS_PER_HALF = 5  # of each domain; the rest of its intents teach Light
PER_INTENT = 13

KEYWORDS = {
    "banking": "account bank check checks transfer balance bill deposit pin routing transaction transactions savings checking "
    "interest fraud",
    "credit_cards": "card visa mastercard credit apr limit rewards amex platinum",
    "travel": "flight travel hotel visa luggage trip fly airport abroad vacation passport bag plane country speak",
    "auto_and_commute": "car oil tire tires gas mileage traffic drive uber road miles bus tank battery",
    "home": "song music list calendar remind reminder playlist lights shopping order amazon appointment todo play",
    "utility": "weather timer alarm phone call text spell time date define roll dice coin meters convert many plus",
}


class Witnesses:
    def __init__(self, others, logged):
        """Light learns from intents that no case has, the witnesses from logged utterances of all intents."""
        self.bayes = NaiveBayes(others, LABELS, size=150)
        self.nearest = Nearest(logged)
        self.centroids = Centroids(logged)

    def light(self, text):
        label, probability, known = self.bayes.classify(text, temperature=1.5)
        return light(label, probability, f"Naive Bayes over common words, {known} known.")

    def evidence(self, ident, text):
        label, similarity = self.nearest.classify(text)
        if similarity > 0.2 and chance(ident, "near") < 0.85:
            content = f"A logged utterance of the domain {label} is alike ({similarity:.2f})."
            yield item("utterance-log", content, similarity + 0.15, label)
        spoken = words(text)
        hits = [(word, domain) for domain in LABELS for word in KEYWORDS[domain].split() if word in spoken]
        if hits and chance(ident, "kw") < 0.9:
            content = "Keywords: " + ", ".join(sorted({word for word, _ in hits})) + "."
            yield item("keyword-router", content, 0.95, Counter(domain for _, domain in hits).most_common(1)[0][0])
        label, _, lead = self.centroids.classify(text)
        if chance(ident, "tri") < 0.7:
            yield item("trigram-router", f"Nearest profile {label}, ahead by {lead:.3f}.", 0.34 + 2.5 * lead, label)
        if chance(ident, "prior") < 0.5:
            content = f"The utterance has {len(spoken)} words."
            yield item("length-rule", content, 0.6, "utility" if len(spoken) <= 7 else "banking")


def halves(sources):
    intents, utterances = sources.clinc150()
    rng = random.Random(5)
    parts, others, logged = ([], []), [], []
    for label in LABELS:
        names = sorted(intents[label])
        rng.shuffle(names)
        for number, intent in enumerate(names):
            texts = list(dict.fromkeys(utterances[intent]))
            rng.shuffle(texts)
            half = number // INTENTS_PER_HALF
            if half < len(parts):
                parts[half].extend((text, label, intent) for text in texts[:PER_INTENT])
            else:
                others.extend((text, label) for text in texts[:20])
            logged.extend((text, label) for text in texts[20:23])
    witnesses = Witnesses(others, logged)
    for part in parts:
        yield sorted((domains_case(witnesses, *row) for row in part), key=lambda made: made["id"])


def domains_case(witnesses, text, label, intent):
    ident = identifier("do-", text + intent)
    return case(
        ident, intent, "An utterance to an assistant: which domain", LABELS, witnesses.light(text),
        witnesses.evidence(ident, text), {"name": "utterance", "text": text}, label,
    )
