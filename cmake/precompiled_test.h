// The same and GoogleTest, for tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled_source.h"
