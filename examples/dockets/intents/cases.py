"""Builds cases of a docket."""

import hashlib


def chance(ident, source):
    """A number in [0, 1) that depends on nothing but the case's id and the source's name."""
    return int(hashlib.sha256(f"{ident}|{source}".encode()).hexdigest()[:12], 16) / 16**12


def identifier(prefix, key):
    return prefix + hashlib.sha256(key.encode()).hexdigest()[:10]


def light(label, probability, reasoning):
    """Light's answer. Its confidence is in the uncertain band [0.50, 0.85), so that every case goes to trial."""
    return {"classification": label, "confidence": round(min(0.849, 0.5 + 0.349 * probability), 3), "reasoning": reasoning}


def item(source, content, confidence, label):
    confidence = round(max(0.02, min(0.99, confidence)), 3)
    return {"source_ref": source, "content": content, "relevance_confidence": confidence, "supports": label}


def case(ident, group, subject, labels, light, evidence, document, truth):
    made = {"id": ident}
    if group:
        made["group"] = group
    made |= {"subject": subject, "labels": labels, "light": light, "evidence": list(evidence)}
    made |= {"documents": [document], "truth": {"classification": truth}}
    return made
