"""The performance lab: ./do bench measures Attune and its peers with this package.

    measure    lets all engines take turns on a network
    results    the document that a run writes, and questions that reports ask it
    report     tables; page writes a page of docs/performance; plots draws the figures
    pages      which page a run writes, and docs/performance.md, the summary of all
    compare    this program against the one of another commit
    wide       networks that nobody tuned for, for --wide
    options    the command line
"""
