"""./do bench --wide: many networks outside the tuned suite, which reveal problems that the well-known ones hide.

    networks     a network of the wide set, and how the command line selects some
    table        all of them: one line each, with the function that makes it
    classifiers, detectors, language, audio, images, others
                 those functions by family; only they import torch, torchvision and transformers
    digest       of everything that makes a network: it shows when a file is out of date
    export       a process that makes one network and writes it, its inputs and torch's outputs
    results      the record of a run, which continues where it stopped
    page         its page of docs/performance
"""
