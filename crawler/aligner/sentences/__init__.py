"""SentenceAligner: which sentences belong together?"""
