# `make grade` grades an example, `make test` runs every check; each does its own set-up.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
EXAMPLE ?= examples/complete
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help grade image test lint types stubs unit clean

help: ## Say what there is to make
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

grade: $(BIN)/grade ## Grade an example, in a container where an engine can be had
	@sandbox=docker; base=$$(scripts/engine) && $(BIN)/grade image build --base-image "$$base" \
		|| { sandbox=process; echo "no container here: grading in a child process" >&2; }; \
	$(BIN)/grade mutate L3.4 --repo $(EXAMPLE) --sandbox $$sandbox

image: $(BIN)/grade ## Build the image that tests run in
	$(BIN)/grade image build --base-image "$$(scripts/engine)"

test: $(VENV)/complete image lint types stubs unit ## Run every check: lint, types, contracts, tests

lint: $(VENV)/complete
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/complete
	$(BIN)/mypy

stubs: $(VENV)/complete
	scripts/check-contracts $(BIN)/python

unit: $(VENV)/complete
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist worksteal

$(BIN)/grade: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/complete: $(BIN)/grade
	$(BIN)/python -m pip install --quiet --editable '.[dev,fixtures,instructor]'
	@touch $@

clean: ## Remove what was built
	rm -rf $(VENV) build dist
