"""Topics of documents by moments alone, without what `TopicModel` chooses."""

from tacit.core.threads import one_blas_thread
from tacit.topics.learn.decomposition import topics_of_moments
from tacit.topics.moments.whitened import topic_moments
from tacit.topics.moments.word_moments import DocumentMoments, Weighting


def topics_of_documents(
    batches, n_topics, *, alpha0="auto", weighting=None, solver="jacobi", random_state=0, **settings
):
    """Some passes over documents for pairs of words (see `topic_moments`), one for triples."""
    source = DocumentMoments(batches, batches.n_words, weighting or Weighting())
    with one_blas_thread():
        moments = topic_moments(source, n_topics, random_state=random_state, **settings)
        return topics_of_moments(
            moments, n_topics, alpha0=alpha0, solver=solver, random_state=random_state
        )
