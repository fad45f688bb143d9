# Read by ctest itself: the settings of whoever runs the tests do not change them.
set(ENV{LAPLE_CONFIG} none)
