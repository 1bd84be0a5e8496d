// SPDX-License-Identifier: Apache-2.0
// A model of what Linux 6.1 does with InfiniBand devices and IPoIB interfaces. Sources:
// drivers/infiniband/ulp/ipoib (ipoib_main.c, ipoib_vlan.c, ipoib_netlink.c, ipoib_multicast.c),
// net/core/{dev,rtnetlink}.c, and the lab. Operations return 0 or an errno, and a refused message may have
// had a part of its effect, as in the kernel.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/types.hpp"
#include "system/link.hpp"

namespace rdmacfg::fakes {

struct Port {
  int number = 1;
  std::uint64_t guid = 0;
  std::string state = "ACTIVE";
  std::string link_layer = "InfiniBand";
  int mtu = 4096;        ///< of the IB link, bytes
  int group_mtu = 4096;  ///< of the IPoIB multicast groups, bytes, as partitions.conf's mtu= says
  std::map<std::uint16_t, int> group_mtus{};    ///< the same by partition, where it differs
  std::vector<std::uint16_t> pkeys = {0xffff};  ///< table; 0: empty place
  bool pkeys_readable = true;
  bool sm = true;  ///< a subnet manager answers
  int sm_lid = 1;
  std::string rate = "56 Gb/sec (4X FDR)";  ///< as sysfs has it
  // Of Ethernet only:
  std::string netdev{};   ///< the interface of its own, or the bond that it is in
  std::string in_bond{};  ///< then, without a RoCE LAG, the interface of its own
  std::vector<std::string> gid_types = {"IB/RoCE v1", "RoCE v2"};
  std::string roce_mode{};  ///< rdma_cm's default, once rdma_cm is loaded
  int roce_tos = 0;
  std::string physical_state{};  ///< empty: as the state says
};

struct Device {
  std::string name;
  std::string driver = "mlx4_core";
  std::string pci{};
  std::string firmware = "2.42.5000";
  std::uint64_t node_guid = 0;
  bool connected = true;  ///< can do connected mode; false: enhanced IPoIB
  bool verbs = true;      ///< user-space verbs can tell the MTU
  bool iwarp = false;
  std::string soft{};    ///< "rxe", "siw"
  int instance = 0;      ///< of this registration; given by the machine
  bool leaving = false;  ///< it is being removed
  std::vector<Port> ports{};
};

enum class Maker { kKernel, kNetlink, kSysfs };

struct Interface {
  int index = 0;
  std::string name;
  std::vector<std::string> altnames{};
  bool up = false;
  bool carrier = false;
  std::int64_t mtu = 1500;
  std::uint32_t group = 0;
  std::string kind{};
  std::uint64_t guid = 0;  ///< in the hardware address of IPoIB, and of a bond over IPoIB; else 0
  // Of IPoIB only:
  std::string device{};
  int port = 0;
  int master = 0;  ///< ifindex of a bond
  int parent = 0;  ///< ifindex, 0 for the port's own interface
  Maker maker = Maker::kKernel;
  std::uint16_t pkey = 0xffff;
  bool connected = false;
  bool capable = true;
  bool umcast = false;
  std::int64_t admin_mtu = 0;  ///< datagram: as asked for
  std::int64_t mcast_mtu = 0;  ///< datagram: as the multicast group allows; known from the first join on
  std::int64_t link_mtu = 0;   ///< datagram: as the IB link allows
  std::vector<std::string> items{};  ///< "addr4 …", "addr6 …", "route …"

  [[nodiscard]] bool is_ipoib() const { return kind == "ipoib"; }
};

/// The kernel's side of a host.
class Machine {
 public:
  Machine();

  std::list<Device> devices;
  std::list<Interface> links;      ///< by index
  std::vector<std::string> rules;  ///< policy rules: "iif ib0 lookup 100"
  /// Given to an interface with its new name since what interfaces carry was last read. Two may swap names:
  /// what one gives up the other has been given.
  std::map<std::string, int> rules_put_back;  ///< and for which interface
  /// How often rdma_cm was loaded; 0: it is not now. Folders are of configfs, by the name they were made
  /// with.
  int rdma_cm = 0;
  std::map<std::string, int> rdma_cm_folders{};  ///< → instance of the device
  std::set<std::string> soft_types = {"rxe"};    ///< that the kernel has drivers for

  bool rename_up = false;  ///< kernels from 6.2 rename an interface that is up
  /// Kernels before 6.10 cut the whole first name of a child, later ones its parent's part
  /// (ipoib_vlan_add()).
  bool cuts_whole_names = false;
  bool slow_carrier = false;   ///< joining takes until settle()
  std::set<int> retraining{};  ///< interfaces that have carrier again once somebody has waited for it

  Interface* find(int index);
  Interface* find(const std::string& name);                  ///< not by alternative names
  [[nodiscard]] bool in_use(const std::string& name) const;  ///< as a name or an alternative name
  Device* device(const std::string& name);
  Port* port_of(const Interface& link);

  /// Adds an interface that has nothing to do with InfiniBand.
  Interface& add_link(std::string name, std::string kind);
  /// Makes the interfaces of a device's InfiniBand ports: ibN, down. Ports that have one already are passed
  /// over.
  void probe(Device& device);
  /// Unplugs: the device goes with all its interfaces.
  void remove_device(const std::string& name);
  /// Unplugs and plugs in again: another kernel object, in its first state, with interfaces called ibN.
  void replug_device(const std::string& name);
  void leave_device(const std::string& name);

  int set(const system::SetLink& request);
  int set_created(const system::SetCreated& request);
  int create_netlink(const system::CreateChild& request);
  int create_sysfs(const std::string& parent, std::uint16_t pkey);
  int remove(int index);
  int remove_group(std::uint32_t group);
  int add_altname(int index, const std::string& altname);
  int remove_altname(int index, const std::string& altname);
  int set_mode(const std::string& name, model::IpoibMode mode);
  int restore(const system::Carried& carried, int index, const std::string& name);

  int rename_device(const std::string& device, const std::string& name);
  int new_soft(const std::string& name, const std::string& type, const std::string& interface);
  int delete_soft(const std::string& name);
  /// Loads rdma_cm again: defaults are as at first, folders are gone.
  void load_rdma_cm();
  int make_folder(const std::string& device);
  int remove_folder(const std::string& device);
  /// Through a folder; nullptr when it leads nowhere.
  Port* folder_port(const std::string& device, int port);
  int set_roce_mode(const std::string& device, int port, const std::string& mode);
  int set_roce_tos(const std::string& device, int port, int tos);

  /// Recomputes carrier from ports, subnet manager and P_Key tables. Call it after changing them.
  void settle();

 private:
  static void set_default(Port& port);
  int rename(Interface& link, const std::string& name);
  int change_mtu(Interface& link, std::int64_t mtu);
  void set_up(Interface& link, bool up);
  void settle(Interface& link);
  bool joinable(const Interface& link);
  void flush(Interface& link);
  Interface& add_child(Interface& parent, std::string name, std::uint16_t pkey, Maker maker);
  Interface& append(Interface link);

  int next_index_ = 1;
  int next_instance_ = 1;
};

}  // namespace rdmacfg::fakes
