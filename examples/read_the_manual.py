"""What a library is about: topics of the docstrings of numpy, scipy and scikit-learn.

Every public function and class is a document. No topic was written down anywhere; the same documents give the
same topics in every run. Half of each new document is then predicted from its other half.
"""

import importlib
import inspect
import re

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

import tacit
from tacit.topics.data.keep_words import plain_word

NUMPY = "linalg random fft"
SCIPY = "linalg sparse stats optimize signal spatial interpolate ndimage special"
SKLEARN = "cluster linear_model metrics ensemble preprocessing model_selection datasets"

modules = ["numpy"]
for package, parts in {"numpy": NUMPY, "scipy": SCIPY, "sklearn": SKLEARN}.items():
    modules += [f"{package}.{part}" for part in parts.split()]
manual = {}
for name in modules:
    module = importlib.import_module(name)
    for member in sorted(vars(module)):
        text = inspect.getdoc(vars(module)[member])
        if text and not member.startswith("_"):
            manual[text] = re.findall(r"[a-z]+", text.lower())
documents = tacit.keep_words(
    tacit.read_documents(list(manual.values())),
    min_df=10,
    max_df=0.2,
    stop_words=ENGLISH_STOP_WORDS,
    form=plain_word,
)
print(f"{documents.n_documents} docstrings, {documents.n_words} words")

train, test = documents.part(slice(None, None, 2)), documents.part(slice(1, None, 2))
model = tacit.TopicModel(n_topics=12).fit(train)
for topic, words in enumerate(model.top_words(8)):
    print(f"  topic {topic:2} ({model.topics_.weights[topic]:.0%}): {' '.join(words)}")

one = tacit.TopicModel(n_topics=1).fit(train)
print(
    f"\nhalf of each docstring, predicted from its other half: perplexity {model.perplexity(test):.0f}, "
    f"without topics {one.perplexity(test):.0f}"
)
query = ["eigenvalues", "and", "eigenvectors", "of", "a", "symmetric", "matrix"]
weights = model.transform([query])[0]
print(
    f"{' '.join(query)!r} is of topic {weights.argmax()}: {' '.join(model.top_words(5)[weights.argmax()])}"
)
