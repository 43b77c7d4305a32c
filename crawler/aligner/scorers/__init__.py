"""Pair scorers: how parallel are two pages?"""
