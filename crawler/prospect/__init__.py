"""Where parallel text is likely to be, before a page is fetched.

`rows` reads public lists and indexes, `sample` keeps a bounded sample of each site, and
`estimate` makes expected document pairs of it.
"""
