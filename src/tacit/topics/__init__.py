"""Topic models: `TopicModel`.

Documents are read in `data`, their pairs and triples of words summed in `moments` along few directions.
`learn/fit` lists the steps: moments, tensor decomposition, variational steps, number of topics. `query` has
topics of documents, perplexity and coherence.
"""
