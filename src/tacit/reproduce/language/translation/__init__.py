"""A small phrase-based translation system.

`sentence_pairs` reads words as numbers, `alignment` aligns them, `phrases` extracts a phrase table, `decoder`
searches for the best translations, `bleu` and `mira` judge and tune. `translations`, above, runs them.
"""
