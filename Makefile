# make demo | test | test-all | lint | format. The environment is made on first use and again when its list changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
PARALLEL := --numprocesses auto --maxprocesses 8 --dist loadfile

.PHONY: demo test test-all lint format venv

demo: $(STAMP)
	$(BIN)/python scripts/demo.py

test: lint
	$(BIN)/python -m pytest -m "not slow" $(PARALLEL)

test-all: lint
	$(BIN)/python -m pytest $(PARALLEL)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

venv: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev,sweep,tensorboard]'
	touch $@
