"""Candidate generators: who could be parallel with a page?"""
