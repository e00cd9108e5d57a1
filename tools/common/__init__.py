"""The library that the tools share. A tool imports this library, program.py and itself, and no other tool.

    machine    the processor and the versions of the software
    stats      statistics of latencies and of repeated runs
    timing     lets artifacts and engines take turns
    engines    the peers, each a function that loads a model; worker runs one in a process of its own
    runtime    Attune's C interface
    models     networks and their model files
    agreement  how far two networks agree, and the pictures on which they are compared
    results    documents of results, as JSON
    report     pages, tables and figures
    options    shared by all command lines; progress has messages for people who wait
"""
