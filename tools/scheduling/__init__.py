"""Compares scheduling strategies on real tuning jobs, and makes docs/scheduling.md of what comes out.

    __main__  the command line: ./do scheduling
    lab       runs tuning jobs, schedules and simulations
    figures   what follows from a schedule
    page      the page; plots draws its figures
"""
