import os

from hypothesis import settings

# Pictures are drawn into memory; set before anything imports matplotlib.
os.environ["MPLBACKEND"] = "Agg"

# The same examples on every run and machine. No deadline: the first example of a test may
# have to compile a loop.
settings.register_profile("tacit", derandomize=True, deadline=None, database=None, print_blob=True)
settings.load_profile("tacit")
