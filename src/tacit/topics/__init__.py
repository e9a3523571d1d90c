"""Topic models: `TopicModel`.

- `data`: documents as word counts, from matrices, lists, frames and files;
- `moments`: pairs and triples of words along few directions, whitened;
- `model`: word probabilities and weights of topics;
- `learn`: `fit` lists the steps: bound on counts, number of topics, moments (`spectral`, `decomposition`),
  variational steps (`variational`);
- `query`: topics and likelihoods of documents, perplexity and coherence, samples, summary.
"""
