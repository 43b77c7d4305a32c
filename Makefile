# Two commands set everything up: `make demo` and `make test`. Needs Python 3.11+.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check

.PHONY: demo test check speed docs install install-dev clean

demo: install
	$(VENV)/bin/bifocal demo

test: install-dev
	$(VENV)/bin/python -m pytest -n 2 --dist loadfile

# Has a crawl become slower, beside Scrapy that only fetches? Two minutes.
speed: install-dev
	$(VENV)/bin/python -m benchmarks.throughput regress

check: install-dev
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

docs: install-dev
	$(VENV)/bin/python -m sphinx -E -W --keep-going -q -b html docs site

install: .make/core
install-dev: .make/dev

# torch first and pinned: asked for as a dependency, pip takes the newest CUDA build.
.make/core: pyproject.toml constraints.txt
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet -c constraints.txt -e .
	mkdir -p .make && touch $@

.make/dev: .make/core
	$(PIP) install --quiet -r constraints.txt
	$(PIP) install --quiet -c constraints.txt -e '.[dev,train,lsh,redis,spark,remote,reports]'
	mkdir -p .make && touch $@

clean:
	rm -rf $(VENV) .make dist
