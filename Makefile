# Everything runs in .venv, which the first target that needs it creates.
# Needed beforehand: Python >= 3.11, pip and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The folder with the datasets that the loaders read; tests that need one skip without it.
TACIT_DATA ?= $(wildcard ../shared/data)
ifneq ($(TACIT_DATA),)
export TACIT_DATA := $(abspath $(TACIT_DATA))
endif

.DEFAULT_GOAL := help
.PHONY: help venv demo test slow coverage lint format types docs names bench lightpeers peers wheel bounds fuzz killer clean

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*##\(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

venv: $(READY)  ## create .venv and install Tacit into it, editable
	@:

$(READY): pyproject.toml
	@echo "==> installing into $(VENV) (a few minutes the first time)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python >= 3.11 is needed: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check \
		--editable ".[plot,data,test,docs,dev]"
	@touch $@

demo: $(READY)  ## learn a latent tree of a real table and ask it questions
	@$(BIN)/tacit demo

test: $(READY)  ## all tests but the slow ones, and every snippet of the documentation
	@echo "==> tests"
	@$(BIN)/python -m pytest --quiet --numprocesses auto

slow: $(READY)  ## the slow tests
	@echo "==> slow tests"
	@$(BIN)/python -m pytest --quiet --numprocesses auto -m slow

coverage: $(READY)  ## which branches the tests do not reach
	@$(BIN)/coverage run -m pytest --quiet
	@$(BIN)/coverage report

lint: $(READY)  ## ruff: rules and format
	@echo "==> lint"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check . || { echo "make format repairs this" >&2; exit 1; }

format: $(READY)  ## repair what ruff can repair
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .

types: $(READY)  ## mypy --strict
	@echo "==> types"
	@$(BIN)/mypy --strict src

docs: $(READY)  ## docs/_build/html; warnings are errors
	@echo "==> docs"
	@rm -rf docs/api/generated
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "    docs/_build/html/index.html"

names: $(READY)  ## write tests/public_names.txt anew after a public name was added
	@$(BIN)/python tests/test_public_names.py

bench: $(READY)  ## every benchmark in its quick form (minutes)
	@set -e; for script in $(wildcard benchmarks/*.py); do \
		echo "==> $$script"; $(BIN)/python $$script --quick; done

# Other programs for the same work. Benchmarks compare with them and some tests ask them for
# a second opinion; both skip where they are absent.
lightpeers: $(READY)  ## install the smaller of the programs that tests and benchmarks compare with
	@echo "==> installing light peers"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check hmmlearn scikit-bio tomotopy

# hyperimpute (benchmarks/imputation.py) works with pandas 2 only, so it is not among them.
peers: lightpeers  ## install all of them
	@echo "==> installing peers"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check dynamax pgmpy pyagrum stepmix
	@$(BIN)/python -m pip install -qq --disable-pip-version-check kenlm \
		|| echo "    kenlm was not built (it needs a C++ compiler and cmake); benchmarks go without it"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check gensim \
		|| echo "    gensim was not built (there is none for this Python); benchmarks go without it"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check miceforest "lightgbm<4.6" \
		|| echo "    miceforest was not installed (LightGBM 4.6 and newer break it); benchmarks go without it"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check missforest "lightgbm<4.6" pandas tqdm \
		|| echo "    missforest was not installed; benchmarks go without it"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check arfpy \
		|| echo "    arfpy was not installed; benchmarks go without it"

wheel: $(READY)  ## sdist and wheel in dist/, tested in an empty environment
	@echo "==> sdist and wheel"
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist . > /dev/null
	@tools/test_wheel $(abspath $(BIN)/python) dist

# Loops that look at bounds are compiled into a cache of their own, since numba's does not tell them apart.
bounds: $(READY)  ## the tests of models with compiled loops that look at every bound (half an hour)
	@echo "==> tests with bounds"
	@NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(abspath .bounds) $(BIN)/python -m pytest --quiet --numprocesses auto \
		$(addprefix tests/,core messages trees junction numbers sequences language parsing topics)

# Hours of either are welcome: make fuzz SECONDS=3600.
SECONDS ?= 60

fuzz: $(READY)  ## damaged and edited files of every class and format, for SECONDS=60
	@echo "==> fuzz"
	@$(BIN)/python tools/fuzz --seconds $(SECONDS) --jobs 2

killer: $(READY)  ## kill long commands at random moments and look at what they leave
	@echo "==> killer"
	@$(BIN)/python tools/killer

clean:  ## everything that can be made again
	@rm -rf $(VENV) dist build docs/_build docs/api/generated out .bounds \
		.mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
	@find src tests docs benchmarks examples -name __pycache__ -type d -prune \
		-exec rm -rf {} + 2> /dev/null || true
