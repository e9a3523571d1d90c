"""Model files: fields that classes declare, one codec, a digest; atomic writing; loading by class name."""
