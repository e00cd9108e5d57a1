"""The study: ./do study measures what fewer bits cost and gain, and this package is how.

    networks   what is compared: networks, the versions of each, and setups that they run in
    samples    pictures to quantize by and to judge by
    making     from a network and a version to an artifact
    agreement  how far a version agrees with the float network
    streams    throughput: processes that run at once
    power      watts and joules, by the processor's own counters
    lab        does all of that to a network, as far as it is not done yet
    results    the document that a run writes, and questions that reports ask it
    page       writes docs/study.md; plots draws its figures
    options    the command line
"""
