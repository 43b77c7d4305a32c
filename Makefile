# Two commands set everything up: `make demo` and `make test`. Needs Python 3.11+.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check

.PHONY: demo test newest-scrapy lowest check speed docs image image-steps install install-dev clean

demo: install
	$(VENV)/bin/bifocal demo

# Four at a time on two cores: tests wait for servers and pauses more than for a core.
# Coverage is taken of the crawler by its unit tests and doctests (pyproject.toml has the
# floor); most others run the commands as processes of their own.
UNIT = tests/unit/crawler crawler
test: install-dev
	$(VENV)/bin/python -m pytest -n 4 --dist loadfile --cov --cov-report=term:skip-covered $(UNIT)
	$(VENV)/bin/python -m pytest -n 4 --dist loadfile --ignore=tests/unit/crawler tests models training

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

# The unit tests of the crawler on the lowest versions that pyproject.toml lets in.
LOWEST = .make/lowest
lowest:
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet uv
	$(LOWEST)/bin/python -m uv pip install --quiet --python $(LOWEST)/bin/python \
	  --resolution lowest-direct -e '.[redis,parquet,pdf,office,watch,onnx,reports,lsh]' \
	  'pytest>=9.0' 'pytest-xdist>=3.8' 'hypothesis>=6.140' 'fpdf2>=2.8'
	$(LOWEST)/bin/python -m pytest -q -n 2 tests/unit/crawler

# The container image (docs/deploy.md), at most 600 MB, and a crawl in it as it is to run.
image:
	docker build -t bifocal -f deploy/Dockerfile .
	test "$$(docker image inspect -f '{{.Size}}' bifocal)" -le 600000000
	docker run --rm --read-only --tmpfs /tmp --cap-drop ALL bifocal demo

# The steps of its Dockerfile in a clean environment, where no container daemon is.
image-steps:
	$(PYTHON) -m tests.image_steps

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
