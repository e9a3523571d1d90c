"""Tables in and out: values to codes, codes to values, columns of numbers beside categories."""
