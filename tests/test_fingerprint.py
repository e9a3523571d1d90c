"""What models learn and say is what is on record; `tools/fingerprint` compares all of them."""

import json
import subprocess
import sys
from pathlib import Path

RECORD = Path(__file__).with_name("files") / "fingerprint.json"
TOOL = Path(__file__).parents[1] / "tools" / "fingerprint"
NAMES = ["Chow-Liu, weighted", "Kneser-Ney, one discount", "topologies"]


def compared(record):
    command = [sys.executable, str(TOOL), "--compare", str(record), "--only", *NAMES]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_few_models_learn_and_say_what_is_on_record():
    actual = compared(RECORD)
    assert actual.returncode == 0, actual.stdout + actual.stderr


def test_a_change_of_an_array_and_of_an_answer_is_told(tmp_path):
    entries = json.loads(RECORD.read_text())
    chow_liu, language = (entries[name] for name in NAMES[:2])
    chow_liu["arrays"][-1][2][1] *= 1 + 1e-7
    language["answers"]["log-likelihood of lines"]["numbers"][2] *= 1 + 1e-7
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(entries))
    actual = compared(changed)
    assert actual.returncode == 1, actual.stdout + actual.stderr
    reports = [line for line in actual.stdout.splitlines() if line.startswith("differs")]
    assert len(reports) == 2
    assert "Chow-Liu, weighted: arrays by " in reports[0]
    assert (
        "Kneser-Ney, one discount: 1 answers, most of all 'log-likelihood of lines'" in reports[1]
    )
