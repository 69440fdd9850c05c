// Central sources: sequences on other servers, from which the blocks of a segment are allocated.
// This is all that other rooms see of them.
#pragma once

#include "pg/central/allocate.hpp"
#include "pg/central/failure.hpp"
#include "pg/central/sources.hpp"
