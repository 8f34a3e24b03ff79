# `make run` and `make test` need Python 3.11 or newer and nothing else: they make their own environment in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help run test test-full lint bench torture docs record clean

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: $(VENV)/installed  ## solve Leduc hold'em, write its strategy and a plot
	$(BIN)/counterplay solve leduc --algorithm cfr+ --until 1e-4 --out leduc.strategy --plot leduc.png
	@echo "The counterplay command is $(BIN)/counterplay; to have it by its name: source $(BIN)/activate"

test: $(VENV)/installed-test  ## run the tests (about thirteen minutes on two cores)
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

test-full: $(VENV)/installed-test  ## run all tests, the long ones too
	$(BIN)/python -m pytest -n $(WORKERS)

lint: $(VENV)/installed-test  ## format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/installed-bench  ## speed beside OpenSpiel and LiteEFG, in CPU seconds (LiteEFG needs a C++ compiler); PARTS=... for some of it
	$(BIN)/python -m benchmarks $(PARTS)

torture: $(VENV)/installed-test  ## kills, fuzzed inputs, hostile clients and races (an hour); MINUTES=30 for less, PARTS=... for some of it
	$(BIN)/python -m torture $(PARTS) $(if $(MINUTES),--minutes $(MINUTES))

docs: $(VENV)/installed-test  ## run every example in README and docs
	$(BIN)/python -m pytest README.md docs

record: $(VENV)/installed  ## write docs/results, published tables and figures beside ours; RUN=hour first runs what fits an hour and is not stored
	$(BIN)/counterplay experiment --pages docs/results $(if $(RUN),--scale $(RUN))

locks:  ## renew requirements/*.txt with uv: versions and hashes for all platforms (UPGRADE=--upgrade for newer versions)
	for set in run test bench; do printf 'hatchling>=1.27\neditables\n' | uv pip compile --quiet pyproject.toml - \
		$$([ $$set = run ] || echo --extra $$set) --universal --python-version 3.11 --generate-hashes --no-annotate \
		--custom-compile-command 'make locks' $(UPGRADE) --output-file requirements/$$set.txt > /dev/null || exit; done

clean:  ## remove the environment and everything made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis leduc.strategy leduc.png
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "counterplay needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# $(1): a file of versions and hashes; hatchling and editables, which build the package, are among them
install = $(PIP) install --require-hashes --requirement requirements/$(1).txt && \
	$(PIP) install --no-deps --no-build-isolation --editable .

$(VENV)/installed: $(VENV)/created pyproject.toml requirements/run.txt
	$(call install,run)
	@touch $@

$(VENV)/installed-test: $(VENV)/created pyproject.toml requirements/test.txt
	$(call install,test)
	@touch $@ $(VENV)/installed

$(VENV)/installed-bench: $(VENV)/created pyproject.toml requirements/bench.txt
	$(call install,bench)
	@touch $@ $(VENV)/installed
