"""Submit a report, follow it, read it and correct it with the client that was generated from the OpenAPI document.

    python try.py SERVER TOKEN REPORT
"""

import io
import sys
import time

from court import AuthenticatedClient
from court.api.corrections import correct, list_corrections
from court.api.dockets import get_docket, list_docket_entries, submit_docket
from court.api.operations import who_am_i
from court.api.trials import get_trial
from court.models import CorrectRequest, Docket, DocketState, Problem
from court.types import File

server, token, report = sys.argv[1:]
client = AuthenticatedClient(base_url=server, token=token, raise_on_unexpected_status=True)

me = who_am_i.sync(client=client)
assert me.scopes == ["operate"], me

with open(report, "rb") as f:
    text = f.read()


def submit():
    body = File(payload=io.BytesIO(text), mime_type="application/octet-stream")
    answer = submit_docket.sync_detailed(client=client, body=body, name="report", idempotency_key="generated")
    assert isinstance(answer.parsed, Docket), answer
    return answer


assert submit().status_code == 202
again = submit()  # the same key is the same docket
assert again.status_code == 200, again
docket = again.parsed

while docket.state not in (DocketState.DONE, DocketState.FAILED, DocketState.CANCELLED):
    time.sleep(0.1)
    docket = get_docket.sync(docket.id, client=client)
assert docket.state == DocketState.DONE and docket.cases == docket.tried > 0, docket

entries = list_docket_entries.sync(docket.id, client=client).entries
assert len(entries) == docket.cases, entries
trial = get_trial.sync(entries[0].id, client=client)
assert trial.id == entries[0].id and trial.status, trial

label = entries[0].labels[-1]
made = correct.sync(client=client, body=CorrectRequest(label=label, trials=[trial.id]))
assert made.trials == 1 and made.label == label, made
assert get_trial.sync(trial.id, client=client).corrected_label == label
assert list_corrections.sync(client=client).corrections[0].id == made.id

unknown = get_docket.sync(docket.id + 1, client=client)
assert isinstance(unknown, Problem) and unknown.code == "not_found", unknown
print(f"submitted, followed, read and corrected {docket.cases} cases")
