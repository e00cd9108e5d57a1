"""./do bench --wide: many networks that nobody tuned for, so that what the well-known ones hide comes to light.

    networks     what a network of the wide set is, and how the command line picks some
    table        all of them: a line each, with the function that makes it
    classifiers, detectors, language, audio, images, others
                 those functions by family; they alone import torch, torchvision and transformers
    digest       of what a network is made of, by which a file that is out of date is told
    export       a process that makes one network and writes it, its inputs and torch's outputs
    results      the record of a run, which goes on where it ended
    page         its page of docs/performance
"""
