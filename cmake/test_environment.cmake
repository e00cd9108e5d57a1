# ctest reads this before the tests: what the user has tuned does not change what tests compile.
set(ENV{ATTUNE_RECORDS} none)
