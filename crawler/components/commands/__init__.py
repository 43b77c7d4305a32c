"""Scrapy commands of the project (setting COMMANDS_MODULE)."""
