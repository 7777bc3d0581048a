// SPDX-License-Identifier: Apache-2.0
// Everything of the allocators, as <wyrm/alloc.hpp>: all families, wyrm::malloc for kernels without an argument,
// objects, and adaptors.
#pragma once

#include "adaptor/counted.hpp"
#include "adaptor/limited.hpp"
#include "adaptor/logged.hpp"
#include "adaptor/retry.hpp"
#include "global.hpp"
#include "objects.hpp"
#include "registry.hpp"
