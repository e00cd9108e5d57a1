"""Experiments with the tuner, and the cost model that it begins with.

    pretrain     ./do pretrain: measures random candidates of many networks and learns the cost model from them
    experiments  ./do experiments: runs what docs/tuning.md reports
    options      the command line of the experiments
    cases        what is run: each experiment as a list of cases
    lab          runs a case
    curves       how a run came down, and when
    results      the document that the experiments write, and questions that reports ask it
    plots        the figures; page writes docs/tuning.md
"""
