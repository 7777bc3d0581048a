// SPDX-License-Identifier: Apache-2.0
// Includes all of the allocators (<wyrm/alloc.hpp>): all families, wyrm::malloc for kernels without an allocator
// argument, objects, and adaptors.
#pragma once

#include "adaptor/counted.hpp"
#include "adaptor/limited.hpp"
#include "adaptor/logged.hpp"
#include "adaptor/retry.hpp"
#include "global.hpp"
#include "objects.hpp"
#include "registry.hpp"
