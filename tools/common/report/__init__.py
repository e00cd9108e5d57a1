"""The parts that pages are made of.

    pages   writes a page with its figures
    tables  Markdown; words numbers, machines and programs
    charts  scales, legends and bars; lines with bands; svg writes the shapes
"""
