# `make demo` and `make test` do all set-up on a machine that has Python 3.11 or later, pip and make.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.ready-dev
BENCH_VENV := .venv-bench
BENCH_READY := $(BENCH_VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long check docs reference format bench lock clean

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

demo: $(READY) ## Section 1.1 of the paper: LinUCB, FALCON and Epsilon-FALCON in a table and a page
	$(VENV)/bin/gyrfalcon demo

# One process per core: libraries that start threads of their own would only wait for each other.
test test-long check: export OMP_NUM_THREADS := 1
test test-long check: export OPENBLAS_NUM_THREADS := 1
# Every process would compile all that it imports anew.
test test-long check: export PYTHONDONTWRITEBYTECODE :=

# Neighbours share what they need, and who is done first takes over from the others.
PYTEST := $(PY) -m pytest -n auto --dist worksteal

test: $(DEV_READY) ## Run the tests, in three minutes or so
	$(PYTEST) -m "not long"

test-long: $(DEV_READY) ## Run all tests, also those too slow for every run, on many more random examples
	$(PYTEST) --hypothesis-profile thorough

check: $(DEV_READY) ## Format, lint, types, import layers, doctests, lock files
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	$(PY) -m pytest -q -n auto --doctest-modules --doctest-glob='*.md' src README.md docs
	@! grep -nE '(https?|file)://|--(extra-)?index-url|--find-links' requirements*.lock

docs: $(DEV_READY) ## Build the documentation into site/, strictly and offline
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict

reference: $(DEV_READY) ## Write the reference pages anew from the code
	$(PY) docs/hooks/generate_reference.py

format: $(DEV_READY) ## Format the code and mend what the linter can
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: $(BENCH_READY) ## Time against hand-written NumPy, CVXPY and five bandit libraries, as ratios
	$(BENCH_VENV)/bin/python -m benchmarks

COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml

lock: ## Pin every package with its hashes (needs uv)
	$(COMPILE) --extra dev -o requirements-dev.lock
	$(COMPILE) --extra cli --extra build -c requirements-dev.lock -o requirements.lock
	$(COMPILE) --extra bench --extra build -c requirements-dev.lock -o requirements-bench.lock

clean: ## Remove the environments
	rm -rf $(VENV) $(BENCH_VENV)
