"""Experiments with the tuner, and with the cost model that it starts with.

    pretrain     ./do pretrain: measures random candidates of many networks and learns the cost model from them
    experiments  ./do experiments: runs the experiments that docs/tuning.md reports
    options      the command line of the experiments
    cases        each experiment as a list of cases
    lab          runs a case
    curves       how fast a run made progress
    results      the document that the experiments write, and questions that reports ask it
    plots        the figures; page writes docs/tuning.md
"""
