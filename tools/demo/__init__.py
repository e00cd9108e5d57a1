"""The demo, ./do demo: trained networks from PyPI, compiled, checked, tuned, quantized, measured and run from C.

    build     builds the compiler alone
    networks  the networks, and the engines that run them
    pictures  draws what they look at
    reading   reads a photo with any engine
    speed     tunes, quantizes and measures them
    stages    counts and times the stages, with a bar
    show      the stages, each with its table
"""
