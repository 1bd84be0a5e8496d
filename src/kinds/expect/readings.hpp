// SPDX-License-Identifier: Apache-2.0
// How the rows of the table are read. Nothing is written, loaded or opened that acts when it is opened.
#pragma once

#include "kinds/expect/rows.hpp"

namespace rdmacfg::kinds::readings {

Reading devices(const ExpectRow& row, const Subject& subject);
Reading active_ports(const ExpectRow& row, const Subject& subject);
/// Of all bridges: one that redirects is enough, one that cannot be read leaves it open.
Reading acs_redirect(const ExpectRow& row, const Subject& subject);
/// The ways in which memory of GPUs can be registered; see docs/EXPECT.md.
Reading gpu_memory(const ExpectRow& row, const Subject& subject);
Reading firmware(const ExpectRow& row, const Subject& subject);
/// The whole number at the beginning of the file of the device: "16.0 GT/s PCIe".
Reading pcie_number(const ExpectRow& row, const Subject& subject);
Reading max_read_request(const ExpectRow& row, const Subject& subject);
Reading iommu(const ExpectRow& row, const Subject& subject);
/// Of "56 Gb/sec (4X FDR)", rounded down.
Reading rate(const ExpectRow& row, const Subject& subject);
Reading width(const ExpectRow& row, const Subject& subject);
Reading link_layer(const ExpectRow& row, const Subject& subject);
Reading subnet_manager(const ExpectRow& row, const Subject& subject);
/// In the folder of the row, else in the other one of counters/ and hw_counters/.
Reading counter(const ExpectRow& row, const Subject& subject);
/// The text of the file, or of the kernel setting.
Reading setting(const ExpectRow& row, const Subject& subject);
/// Those of all processors: one that saves power is slow whatever the others do.
Reading governors(const ExpectRow& row, const Subject& subject);
/// Of "always [madvise] never" the word in brackets.
Reading bracketed(const ExpectRow& row, const Subject& subject);

}  // namespace rdmacfg::kinds::readings
