# Two commands set everything up: `make demo` and `make test`. Needs Python 3.11+.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check

.PHONY: demo test newest-scrapy check speed docs install install-dev clean

demo: install
	$(VENV)/bin/bifocal demo

# Three at a time on two cores: tests wait for servers and pauses more than for a core.
test: install-dev
	$(VENV)/bin/python -m pytest -n 3 --dist loadfile

# The tests of the crawl on the newest Scrapy that can be installed and what it brings, if
# it is not the one of constraints.txt. `make newest-scrapy SCRAPY=2.20.0` takes another.
SCRAPY ?= $(shell $(PIP) install --dry-run --quiet --ignore-installed --no-deps \
  --report - scrapy 2> /dev/null | sed -n 's/^ *"version": "\(.*\..*\)".*/\1/p')
PINNED = $(shell sed -n 's/^scrapy==//Ip' constraints.txt)
ON_SCRAPY = demo_crawl http politeness address_guard proxy resume

newest-scrapy: install-dev
	@test -n "$(SCRAPY)" || { echo "no index of packages answers"; exit 1; }
ifeq ($(SCRAPY),$(PINNED))
	@echo "Scrapy $(SCRAPY) is the newest, and make test has tested it"
else
	$(PIP) install --quiet --upgrade --target $(CURDIR)/.make/scrapy-$(SCRAPY) scrapy==$(SCRAPY)
	PYTHONPATH=$(CURDIR)/.make/scrapy-$(SCRAPY) $(VENV)/bin/python -m pytest -n 2 \
	  --dist loadfile tests/unit/crawler/components $(ON_SCRAPY:%=tests/integration/test_%.py)
endif

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
