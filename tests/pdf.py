"""PDF files, made while a test runs."""

from __future__ import annotations

from collections.abc import Sequence

from fpdf import FPDF


def make_pdf(
    title: str,
    paragraphs: Sequence[str],
    *,
    lang: str = "",
    links: Sequence[str] = (),
    per_page: int = 100,
    running: str = "",
    password: str = "",
) -> bytes:
    """A heading and paragraphs, so many to a page; `running` stands above and below."""
    pdf = FPDF()
    pdf.set_title(title)
    if lang:
        pdf.set_lang(lang)
    if password:
        pdf.set_encryption(owner_password=password, user_password=password)
    for start in range(0, max(len(paragraphs), 1), per_page):
        pdf.add_page()
        if running:
            pdf.set_font("helvetica", size=8)
            pdf.cell(text=f"{running} {pdf.page}", new_x="LMARGIN", new_y="NEXT")
        if not start and title:
            pdf.set_font("helvetica", "B", 20)
            pdf.multi_cell(0, 10, title, new_x="LMARGIN", new_y="NEXT")
        pdf.set_font("helvetica", size=11)
        for text in paragraphs[start : start + per_page]:
            pdf.multi_cell(0, 5, text, new_x="LMARGIN", new_y="NEXT")
            pdf.ln(4)
    for link in links:
        pdf.cell(text="Further", link=link, new_x="LMARGIN", new_y="NEXT")
    return bytes(pdf.output())
