# `make demo` and `make test` do all set-up on a machine that has Python 3.11 or later, pip and make.
PYTHON ?= python3
VENV ?= .venv
PYTHONS ?= python3.11 python3.12 python3.13
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.ready-dev
BENCH_VENV := .venv-bench
BENCH_READY := $(BENCH_VENV)/.ready
AGREEMENT_VENV := .venv-agreement
AGREEMENT_READY := $(AGREEMENT_VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long test-kernels test-all coverage build check docs stubs reference format bench agreement open-bandit-data lock clean

help: ## Say what each command does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(DEV_READY) ## Install everything for development into .venv, hash-checked

# A system Python may lack the venv module's pip, so the outer pip installs into the environment.
%/bin/python:
	$(PYTHON) -m venv --without-pip $*

define install
	$(PYTHON) -m pip --python $(1)/bin/python install --quiet --disable-pip-version-check --require-hashes -r $(2)
	$(PYTHON) -m pip --python $(1)/bin/python install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
endef

$(READY): requirements.lock pyproject.toml | $(PY)
	$(call install,$(VENV),requirements.lock)

$(DEV_READY): requirements-dev.lock pyproject.toml | $(PY)
	$(call install,$(VENV),requirements-dev.lock)
	@touch $(READY)

$(BENCH_READY): requirements-bench.lock pyproject.toml | $(BENCH_VENV)/bin/python
	$(call install,$(BENCH_VENV),requirements-bench.lock)

# obp 0.5.7 asks for versions of 2021 and for Python below 3.10, and runs with later ones.
PIP_FOR_AGREEMENT := $(PYTHON) -m pip --python $(AGREEMENT_VENV)/bin/python --quiet --disable-pip-version-check
# confseq 0.0.11 compiles C++ against Boost; what is compared is Python, which its unpacked source holds.
CONFSEQ := confseq-0.0.11

$(AGREEMENT_READY): benchmarks/agreement/requirements.txt | $(AGREEMENT_VENV)/bin/python
	$(PIP_FOR_AGREEMENT) install -r benchmarks/agreement/requirements.txt
	$(PIP_FOR_AGREEMENT) install --no-deps --ignore-requires-python obp==0.5.7
	$(PIP_FOR_AGREEMENT) install --no-deps -e .
	$(PIP_FOR_AGREEMENT) download --no-deps --no-binary confseq --no-build-isolation -d $(AGREEMENT_VENV) $(subst confseq-,confseq==,$(CONFSEQ))
	tar -xzf $(AGREEMENT_VENV)/$(CONFSEQ).tar.gz -C $(AGREEMENT_VENV)
	@touch $@

demo: $(READY) ## Section 1.1 of the paper: LinUCB, FALCON, Epsilon-FALCON and AdaptiveFalcon in a table and a page
	$(VENV)/bin/gyrfalcon demo

# One process per core: libraries that start threads of their own would only wait for each other.
test test-long coverage check: export OMP_NUM_THREADS := 1
test test-long coverage check: export OPENBLAS_NUM_THREADS := 1
# Every process would compile all that it imports anew.
test test-long coverage check: export PYTHONDONTWRITEBYTECODE :=

# Neighbours share what they need, and who is done first takes over from the others.
PYTEST := $(PY) -m pytest -n auto --dist worksteal

test: $(DEV_READY) ## Run the tests, in three minutes or so
	$(PYTEST) -m "not long and not site"

test-long: $(DEV_READY) ## Run all tests, also those too slow for every run, on many more random examples
	$(PYTEST) -m "not site" --hypothesis-profile thorough

test-kernels: $(DEV_READY) ## Run the tests of batch invariance under each set of BLAS kernels
	$(PY) -m tests.blas_kernels -n auto

test-all: ## Run the tests on every Python from 3.11 to 3.13 that this machine has
	@for python in $(PYTHONS); do \
	  if command -v $$python > /dev/null; then \
	    echo "== $$python"; $(MAKE) test PYTHON=$$python VENV=.venv-$$python || exit 1; \
	  else echo "== $$python is not installed, so it is left out"; fi; \
	done

coverage: $(DEV_READY) ## Run the tests and fail below the coverage floor of pyproject.toml
	$(PYTEST) -m "not long and not site" --cov --cov-report=term:skip-covered

build: $(DEV_READY) ## Build the wheel and the source distribution into dist/
	$(PY) -m hatchling build

check: $(DEV_READY) ## Format, lint, types, import layers, doctests, lock files
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	$(PY) -m pytest -q -n auto --doctest-modules --doctest-glob='*.md' src README.md docs
	@! grep -nE '(https?|file)://|--(extra-)?index-url|--find-links' requirements*.lock

# Everything is read anew (-E), as Sphinx says nothing of pages that it has read before.
docs: $(DEV_READY) ## Build the documentation into site/, strictly and offline, and check its links
	rm -rf site
	$(PY) -m sphinx --builder html -E -q --fail-on-warning --keep-going -j auto -d build/doctrees docs site
	$(PY) -m pytest -q -m site tests/docs

stubs: $(DEV_READY) ## Write the stubs of the public modules anew from the registry
	$(PY) -m tests.stubs

reference: $(DEV_READY) ## Write the reference of the command line anew from the code
	$(PY) docs/_ext/cli_page.py

format: $(DEV_READY) ## Format the code and correct what the linter can
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

agreement: $(AGREEMENT_READY) ## Compare with the Open Bandit Pipeline and confseq, in an environment of its own
	PYTHONPATH=$(AGREEMENT_VENV)/$(CONFSEQ)/src $(AGREEMENT_VENV)/bin/python -W ignore -m benchmarks.agreement.confseq
	$(AGREEMENT_VENV)/bin/python -W ignore -m benchmarks.agreement.obp

# The Open Bandit Pipeline is timed where it is installed, after all others.
bench: $(BENCH_READY) $(AGREEMENT_READY) ## Time against hand-written NumPy, CVXPY and six bandit libraries, as ratios
	@missed=0; $(BENCH_VENV)/bin/python -m benchmarks || missed=1; $(MAKE) --no-print-directory agreement || missed=1; exit $$missed

COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml

open-bandit-data: $(DEV_READY) ## Download the small Open Bandit data, which some tests and the tutorial read
	$(PY) -m tests.open_bandit_data

lock: ## Pin every package with its hashes (needs uv)
	$(COMPILE) --extra dev -o requirements-dev.lock
	$(COMPILE) --extra cli --extra build -c requirements-dev.lock -o requirements.lock
	$(COMPILE) --extra bench --extra build -c requirements-dev.lock -o requirements-bench.lock

clean: ## Remove the environments
	rm -rf .venv .venv-*
