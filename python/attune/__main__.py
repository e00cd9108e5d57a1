"""`python -m attune` is the command `attune`."""
from attune_command import main

main()
