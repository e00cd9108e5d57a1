"""The performance lab: ./do bench measures Attune beside its peers, and this package is how.

    networks   what is measured: architectures and their variants
    models     makes their model files, with export_torch, export_keras, quantize_onnx and convert_mnn
    engines    the peers, each a function that loads a model; worker runs one in a process of its own
    measure    lets all engines take turns on a network
    stats      what is computed of latencies
    results    the document that a run writes, and questions that reports ask it
    report     tables; page writes a page of docs/performance; plots and svg draw the figures
    pages      which page a run writes, and docs/performance.md, the summary of all
    compare    this program against the one of another commit
    wide       networks that nobody tuned for, for --wide
    machine    what processor and which versions
    options    the command line
"""
