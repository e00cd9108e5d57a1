"""The library that the tools share. A tool imports this library and itself, and no other tool.

    program    runs the attune program, and other programs
    waiting    waits until something holds
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

    fleet_members    processes of a fleet on this machine
    rest_client      asks the service by REST
    postgres_server  a PostgreSQL of its own
    slurm_cluster    a Slurm cluster of its own; slurm_fleet has devices in one
"""
