"""The study: ./do study measures with this package what fewer bits cost and gain.

    networks   the networks, the versions of each, and the setups in which they run
    samples    pictures to quantize by and to judge by
    making     from a network and a version to an artifact
    agreement  how far a version agrees with the float network
    streams    throughput: processes that run at once
    power      watts and joules, by the processor's own counters
    lab        does all of this for a network, as far as it is not done yet
    results    the document that a run writes, and questions that reports ask it
    page       writes docs/study.md; plots draws its figures
    options    the command line
"""
