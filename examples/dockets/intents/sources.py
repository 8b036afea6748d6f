"""Reads the files of the two data sets, at pinned commits and with pinned digests."""

import csv
import hashlib
import io
import json
import urllib.request
from pathlib import Path

BANKING77 = "PolyAI-LDN/task-specific-datasets", "57ec275d8078af65b7731c2a98be812d844a6d6b"
CLINC150 = "clinc/oos-eval", "828f8093932c8fe6ca7936c3d2e52903b1c523de"

DIGESTS = {
    "banking_data/train.csv": "b06e26ac675513959a63135f11b94ea7786ed02da65db93a5650d8838cbc664b",
    "banking_data/test.csv": "d12d6e3bc4c3103966ae786dc435913c0c563dfa328f5a3646d0e62cfeeb474d",
    "data/data_full.json": "36923c3705a59e08fe9c3883d8bc2dd966ef93e22cb78ac41171782a698d56e0",
    "data/domains.json": "b947b579d3b8e74b06f93b01083d8efaff2888b43a3e362533bd88a6e1211b3a",
}


class Sources:
    """Reads from a folder with a checkout of each repository, or from GitHub if there is no folder."""

    def __init__(self, folder=None):
        self.folder = folder

    def banking77(self):
        """All messages with their intents, in the order of the files."""
        for part in ("train", "test"):
            text = self._read(BANKING77, f"banking_data/{part}.csv")
            for row in csv.DictReader(io.StringIO(text)):
                yield row["text"], row["category"]

    def clinc150(self):
        """The intents of each domain, and the utterances of each intent in the order of the file."""
        domains = json.loads(self._read(CLINC150, "data/domains.json"))
        splits = json.loads(self._read(CLINC150, "data/data_full.json"))
        utterances = {}
        for split in ("train", "val", "test"):
            for text, intent in splits[split]:
                utterances.setdefault(intent, []).append(text)
        # One file writes the names of intents with spaces, the other with underscores.
        return {domain: [name.replace(" ", "_") for name in names] for domain, names in domains.items()}, utterances

    def _read(self, repository, path):
        name, commit = repository
        if self.folder:
            where = str(Path(self.folder, name.split("/")[1], path))
            data = Path(where).read_bytes()
        else:
            where = f"https://raw.githubusercontent.com/{name}/{commit}/{path}"
            with urllib.request.urlopen(where, timeout=60) as response:
                data = response.read()
        if hashlib.sha256(data).hexdigest() != DIGESTS[path]:
            raise SystemExit(f"{where} is not the file of commit {commit}: its SHA-256 differs")
        return data.decode("utf-8")
