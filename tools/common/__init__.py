"""What the tools share. A tool imports this library, program.py and itself, and no other tool.

    machine    what processor and which versions
    stats      what is computed of latencies, and of runs that are repeated
    timing     lets artifacts and engines take turns
    engines    the peers, each a function that loads a model; worker runs one in a process of its own
    runtime    Attune's C interface
    models     what is measured, and its model files
    agreement  how far two networks agree, and the pictures that they are asked about
    results    documents of results, as JSON
    report     pages, tables and figures
    options    what command lines have in common; progress is what people are told while they wait
"""
