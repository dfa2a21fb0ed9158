# `make demo` and `make test` do all set-up on a machine that has Python 3.11 or later, pip and make.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
BENCH_VENV := .venv-bench
BENCH_READY := $(BENCH_VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long check format bench lock clean

help: ## Say what each command does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY) ## Install everything into .venv, hash-checked

# A system Python may lack the venv module's pip, so the outer pip installs into the environment.
define install
	$(PYTHON) -m venv --without-pip --clear $(1)
	$(PYTHON) -m pip --python $(1)/bin/python install --quiet --disable-pip-version-check --require-hashes -r $(2)
	$(PYTHON) -m pip --python $(1)/bin/python install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(1)/.ready
endef

$(READY): requirements.lock pyproject.toml
	$(call install,$(VENV),requirements.lock)

$(BENCH_READY): requirements-bench.lock pyproject.toml
	$(call install,$(BENCH_VENV),requirements-bench.lock)

demo: $(READY) ## Section 1.1 of the paper: LinUCB, FALCON and Epsilon-FALCON in a table and a figure
	$(VENV)/bin/gyrfalcon demo

test: $(READY) ## Run the tests
	$(PY) -m pytest -n auto -m "not long"

test-long: $(READY) ## Run the tests that are too slow for every run
	$(PY) -m pytest -n auto -m long

check: $(READY) ## Format, lint, types, import layers, doctests, lock files
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	$(PY) -m pytest -q --doctest-modules --doctest-glob='*.md' -p no:randomly src README.md docs
	@! grep -nE '(https?|file)://|--(extra-)?index-url|--find-links' requirements*.lock

format: $(READY) ## Format the code and mend what the linter can
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: $(BENCH_READY) ## Time against hand-written NumPy, CVXPY and Vowpal Wabbit, as ratios
	$(BENCH_VENV)/bin/python -m benchmarks

lock: ## Pin every package with its hashes (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --extra dev pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --extra dev --extra bench pyproject.toml -o requirements-bench.lock

clean: ## Remove the environments
	rm -rf $(VENV) $(BENCH_VENV)
