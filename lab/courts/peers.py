"""Fit scikit-learn's models on dockets. Jobs come from standard input, probabilities go to standard output, as JSON."""
import json
import math
import sys
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

warnings.filterwarnings("ignore")


def load(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def source(ref):
    return ref.split("#")[0].split(":")[0]


def statements(case):
    """What each source says, with the log-odds of the stated confidence; Light is a source."""
    out = {}
    said = [(source(e["source_ref"]), e.get("supports", ""), e["relevance_confidence"]) for e in case.get("evidence") or []]
    if case.get("light"):
        said.append((":light", case["light"]["classification"], case["light"]["confidence"]))
    for name, label, confidence in said:
        out[f"{name} says {label}"] = 1.0
        if label:
            c = min(max(confidence, 0.001), 0.999)
            out[f"{name} states {label}"] = math.log(c / (1 - c))
    return out


def text(case):
    parts = [d["text"] for d in case.get("documents") or []] + [e["content"] for e in case.get("evidence") or []]
    return "\n".join([case["subject"]] + parts)


def columns(first, last):
    return FunctionTransformer(lambda x: x[:, first:last], accept_sparse=True)


def models(n, width, names):
    """n columns are of statements, the others of text. The penalties are scikit-learn's own."""
    lr = lambda: LogisticRegression(max_iter=1000)
    dense = FunctionTransformer(lambda x: x[:, :n].toarray(), accept_sparse=True)
    positive = FunctionTransformer(lambda x: abs(x), accept_sparse=True)
    every = {
        "logistic regression": lambda: make_pipeline(columns(0, n), lr()),
        "logistic regression, TF-IDF": lr,
        "gradient boosting": lambda: make_pipeline(dense, HistGradientBoostingClassifier(random_state=1, max_iter=60)),
        "naive Bayes": lambda: make_pipeline(positive, MultinomialNB()),
        "stacked": lambda: StackingClassifier(
            [("a", make_pipeline(columns(0, n), lr())), ("b", make_pipeline(columns(n, width), lr())), ("c", make_pipeline(positive, MultinomialNB()))],
            final_estimator=lr(), cv=5),
    }
    return {k: every[k]() for k in names}


def run(job):
    train = load(job["train"])
    truth = [c["truth"]["classification"] for c in train]
    said, words = DictVectorizer(), TfidfVectorizer(min_df=min(2, len(train)), sublinear_tf=True, ngram_range=(1, 2))
    a, b = said.fit_transform([statements(c) for c in train]), words.fit_transform([text(c) for c in train])
    x, out = sp.hstack([a, b]).tocsr(), {"predictions": {}}
    for name, model in models(a.shape[1], x.shape[1], job["models"]).items():
        try:
            model.fit(x, truth)
        except ValueError:  # too few cases of a label for its folds
            continue
        for path in job["tests"]:
            cases = load(path)
            p = model.predict_proba(sp.hstack([said.transform([statements(c) for c in cases]), words.transform([text(c) for c in cases])]).tocsr())
            classes = list(model.classes_)
            rows = [[float(row[classes.index(l)]) if l in classes else 0.0 for l in c["labels"]] for row, c in zip(p, cases)]
            out["predictions"].setdefault(name, {})[path] = rows
        if name == "logistic regression, TF-IDF":
            grams = words.get_feature_names_out()
            coef = model.coef_ if len(model.classes_) > 2 else np.vstack([-model.coef_, model.coef_])
            out["strongest"] = {str(l): [grams[i] for i in np.argsort(-w[a.shape[1]:])[:10]] for l, w in zip(model.classes_, coef)}
    return out


json.dump([run(job) for job in json.load(sys.stdin)], sys.stdout)
