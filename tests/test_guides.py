"""What guides show of other programs runs where these are installed."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parent.parent / "docs" / "models" / "topic_model.rst"
PYTHON = re.compile(r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", flags=re.MULTILINE)


def test_what_is_shown_of_gensim_runs_and_finds_the_same_topics():
    pytest.importorskip("gensim", reason="one of `make peers`")
    import tacit

    texts = ["cat vet cat dog", "vet cat dog", "tax law tax", "law tax bill law"]
    known = {"tacit": tacit, "lists": [text.split() for text in texts] * 15}
    blocks = PYTHON.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 2
    for block in blocks:
        exec("\n".join(line[3:] for line in block.splitlines()), known)
    agreement = tacit.evaluate.topic_agreement(
        known["model"].components_, known["lda"].get_topics()
    )
    assert agreement > 0.9
    words = known["model"].words_
    assert words == tuple(known["dictionary"][place] for place in range(len(words)))
    asked = known["dictionary"].doc2bow(["cat", "vet"])
    mixture = known["model"].transform([["cat", "vet"]])
    assert mixture == pytest.approx(known["model"].transform([asked]))
    there = dict(known["lda"].get_document_topics(asked))
    assert mixture.max() > 0.6 < max(there.values())
    assert {words[np.argmax(row)] for row in known["model"].components_} == {
        known["lda"].show_topic(topic, 1)[0][0] for topic in range(2)
    }
