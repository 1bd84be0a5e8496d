// SPDX-License-Identifier: GPL-2.0
/* fake_hca: adapters, that come and go, and the ib_device that each has while it is there. */
#include "fake_hca.h"
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/sched/signal.h>

LIST_HEAD(fh_hcas);
DEFINE_MUTEX(fh_hcas_lock);

const char * const fh_kind_names[FH_KINDS] = { [FH_IB] = "ib", [FH_EIB] = "eib", [FH_ROCE] = "roce" };

void fh_event(struct fh_port *port, enum ib_event_type type)
{
	struct ib_event ev = { .device = &port->dev->ibdev, .event = type,
			       .element.port_num = port->num };

	if (port->dev->hca->dev == port->dev)	/* registered */
		ib_dispatch_event(&ev);
}

/* ---- the ib_device of an adapter --------------------------------------------------------------- */

static const struct ib_device_ops fh_eib_ops = {
	.rdma_netdev_get_params = fh_eipoib_get_params,
};

static void fh_dev_free(struct fh_dev *dev)
{
	int p;

	for (p = 1; p <= dev->hca->ports; p++) {
		struct fh_port *port = &dev->port[p];

		fh_unplug(port);
		if (port->ndev) {
			if (port->ndev->reg_state == NETREG_REGISTERED)
				unregister_netdev(port->ndev);
			free_netdev(port->ndev);
		}
		kvfree(port->sma.pkey);
	}
	ib_dealloc_device(&dev->ibdev);
}

static int fh_port_init(struct fh_dev *dev, int p)
{
	struct fh_hca *hca = dev->hca;
	struct fh_port *port = &dev->port[p];
	int i, ret;

	port->dev = dev;
	port->num = p;
	port->guid = hca->guid + p;
	port->eth = hca->eth[p];
	if (port->eth) {
		struct net_device *ndev = fh_eth_create(dev, p);

		if (IS_ERR(ndev))
			return PTR_ERR(ndev);
		port->ndev = ndev;
		ret = register_netdev(ndev);
		return ret ? ret : ib_device_set_netdev(&dev->ibdev, ndev, p);
	}
	port->unplugged = !fh_active;
	port->mcmtu = fh_mtu;
	port->sa = fh_builtin && fh_sa;
	ret = fh_sma_init(&port->sma, fh_pkeys, false);
	if (ret)
		return ret;
	if (fh_builtin) {
		port->sma.pi.lid = cpu_to_be16(0x10 + hca->index * FH_MAX_PORTS + p);
		port->sma.pi.sm_lid = cpu_to_be16(FH_SM_LID);
		for (i = 1; i < fh_pkeys; i++)
			port->sma.pkey[i] = 0x8000 | i;
	}
	return fh_plug(port, 0);
}

static int fh_dev_create(struct fh_hca *hca)
{
	struct fh_dev *dev = ib_alloc_device(fh_dev, ibdev);
	int ret = 0, p;

	if (!dev)
		return -ENOMEM;
	dev->hca = hca;
	dev->next_qpn = 0x48;
	dev->ibdev.node_type = RDMA_NODE_IB_CA;
	dev->ibdev.phys_port_cnt = hca->ports;
	dev->ibdev.num_comp_vectors = 1;
	dev->ibdev.local_dma_lkey = 0x100;
	dev->ibdev.node_guid = cpu_to_be64(hca->guid);
	snprintf(dev->ibdev.node_desc, IB_DEVICE_NODE_DESC_MAX, "fake_hca %d", hca->index);
	dev->ibdev.dev.parent = hca->parent;
	ib_set_device_ops(&dev->ibdev, &fh_ops);
	ib_set_device_ops(&dev->ibdev, &fh_device_ops);
	if (hca->kind == FH_EIB)
		ib_set_device_ops(&dev->ibdev, &fh_eib_ops);
	for (p = 1; p <= hca->ports; p++)
		if (hca->eth[p])
			ib_set_device_ops(&dev->ibdev, &fh_roce_ops);
	for (p = 1; p <= hca->ports && !ret; p++)
		ret = fh_port_init(dev, p);
	if (!ret)
		ret = ib_register_device(&dev->ibdev, hca->name, NULL);
	if (ret)
		fh_dev_free(dev);
	else
		hca->dev = dev;
	return ret;
}

static void fh_dev_destroy(struct fh_hca *hca)
{
	struct fh_dev *dev = hca->dev;

	if (!dev)
		return;
	hca->dev = NULL;
	ib_unregister_device(&dev->ibdev);
	fh_dev_free(dev);
}

/* ---- mlx4_portN, on the parent of an "ib" adapter ------------------------------------------------ */

static int attr_port(struct fh_hca *hca, struct device_attribute *attr)
{
	int p;

	for (p = 1; p < hca->ports && attr != &hca->attr[p]; p++)
		;
	return p;
}

static ssize_t port_type_show(struct device *parent, struct device_attribute *attr, char *buf)
{
	struct fh_hca *hca = dev_get_drvdata(parent);
	int p = attr_port(hca, attr);

	return sysfs_emit(buf, !strcmp(hca->type[p], "auto") ? "auto (%s)\n" : "%s\n",
			  hca->eth[p] ? "eth" : "ib");
}

/* As with mlx4, a change takes the whole device away and brings it back. */
static ssize_t port_type_store(struct device *parent, struct device_attribute *attr,
			       const char *buf, size_t count)
{
	static const char * const types[] = { "ib", "eth", "auto" };
	struct fh_hca *hca = dev_get_drvdata(parent);
	int p = attr_port(hca, attr), t = __sysfs_match_string(types, ARRAY_SIZE(types), buf);
	int ret = 0;
	bool eth;

	if (t < 0)
		return -EINVAL;
	if (!mutex_trylock(&fh_hcas_lock))	/* "del" holds it and waits for us */
		return restart_syscall();
	strscpy(hca->type[p], types[t], sizeof(hca->type[p]));
	eth = t == 2 ? hca->eth[p] : t == 1;
	if (eth != hca->eth[p]) {
		fh_dev_destroy(hca);
		hca->eth[p] = eth;
		ret = fh_dev_create(hca);
	}
	mutex_unlock(&fh_hcas_lock);
	return ret ? ret : count;
}

static void fh_type_files(struct fh_hca *hca, bool add)
{
	static const char * const names[] = { "", "mlx4_port1", "mlx4_port2" };
	int p;

	for (p = 1; p <= hca->ports && hca->kind == FH_IB; p++) {
		struct device_attribute *a = &hca->attr[p];

		if (!add) {
			device_remove_file(hca->parent, a);
			continue;
		}
		sysfs_attr_init(&a->attr);
		a->attr.name = names[p];
		a->attr.mode = 0644;
		a->show = port_type_show;
		a->store = port_type_store;
		if (device_create_file(hca->parent, a))
			pr_warn("%s: no %s\n", hca->name, names[p]);
	}
}

/* ---- adding and removing adapters --------------------------------------------------------------- */

/*
 * A QEMU "edu" device, where there is one, gives the HCA a place on the PCI bus.  The drivers do
 * nothing: they are there because udev rules for IPoIB ask for DRIVERS=="?*".
 */
static const struct pci_device_id fh_pci_ids[] = { { PCI_DEVICE(0x1234, 0x11e8) }, {} };

static int fh_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id);
static void fh_pci_remove(struct pci_dev *pdev);
static int fh_plat_probe(struct platform_device *pdev) { return 0; }

struct pci_driver fh_pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = fh_pci_ids,
	.probe = fh_pci_probe,
	.remove = fh_pci_remove,
};

struct platform_driver fh_plat_driver = {
	.driver = { .name = KBUILD_MODNAME },
	.probe = fh_plat_probe,
};

/* Adapter i sits in slot 16 + i. */
static int fh_slot(const struct pci_dev *pci) { return PCI_SLOT(pci->devfn) - 16; }

static int fh_parent(struct fh_hca *hca)
{
	struct pci_dev *pci = NULL;

	while ((pci = pci_get_device(0x1234, 0x11e8, pci)))	/* drops the previous one */
		if (fh_slot(pci) == hca->index)
			break;
	if (pci) {
		hca->pci = pci;
		hca->parent = &pci->dev;
	} else {
		hca->plat = platform_device_register_simple(KBUILD_MODNAME, hca->index, NULL, 0);
		if (IS_ERR(hca->plat))
			return PTR_ERR(hca->plat);
		hca->parent = &hca->plat->dev;
	}
	dev_set_drvdata(hca->parent, hca);
	return 0;
}

static void fh_unparent(struct fh_hca *hca)
{
	dev_set_drvdata(hca->parent, NULL);
	pci_dev_put(hca->pci);
	platform_device_unregister(hca->plat);
	hca->pci = NULL;
	hca->plat = NULL;
	hca->parent = NULL;
}

void fh_del(struct fh_hca *hca)
{
	list_del(&hca->node);
	if (hca->parent) {
		fh_type_files(hca, false);
		fh_dev_destroy(hca);
		fh_unparent(hca);
	}
	kfree(hca);
}

static void fh_default_types(struct fh_hca *hca)
{
	int p;

	for (p = 1; p <= hca->ports; p++) {
		hca->eth[p] = hca->kind == FH_ROCE;
		strscpy(hca->type[p], hca->eth[p] ? "eth" : "ib", sizeof(hca->type[p]));
	}
}

/* The slot came back after a removal (a rescan of the bus): so does the adapter. */
static int fh_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct fh_hca *hca;
	int ret = 0;

	mutex_lock(&fh_hcas_lock);
	list_for_each_entry(hca, &fh_hcas, node)
		if (hca->pci_gone && hca->index == fh_slot(pdev)) {
			hca->pci_gone = false;
			hca->pci = pci_dev_get(pdev);
			hca->parent = &pdev->dev;
			dev_set_drvdata(hca->parent, hca);
			fh_default_types(hca);
			ret = fh_dev_create(hca);
			fh_type_files(hca, true);
			break;
		}
	mutex_unlock(&fh_hcas_lock);
	return ret;
}

/* The adapter is pulled out of its slot: all that is above it has to go, whoever uses it. */
static void fh_pci_remove(struct pci_dev *pdev)
{
	struct fh_hca *hca;

	mutex_lock(&fh_hcas_lock);
	list_for_each_entry(hca, &fh_hcas, node)
		if (hca->pci == pdev) {
			fh_type_files(hca, false);
			fh_dev_destroy(hca);
			fh_unparent(hca);
			hca->pci_gone = true;
			break;
		}
	mutex_unlock(&fh_hcas_lock);
}

int fh_add(const char *kind, const char *name, int ports, u64 guid)
{
	int k = match_string(fh_kind_names, ARRAY_SIZE(fh_kind_names), kind), ret;
	struct fh_hca *hca, *other;

	if (k < 0 || ports < 1 || ports > FH_MAX_PORTS)
		return -EINVAL;
	hca = kzalloc(sizeof(*hca), GFP_KERNEL);
	if (!hca)
		return -ENOMEM;
again:
	list_for_each_entry(other, &fh_hcas, node)
		if (other->index == hca->index) {
			hca->index++;
			goto again;
		}
	if (hca->index >= FH_MAX_DEVS) {
		kfree(hca);
		return -ENOSPC;
	}
	strscpy(hca->name, name, sizeof(hca->name));
	hca->kind = k;
	hca->ports = ports;
	hca->guid = guid ? guid : fh_guid_base + hca->index * 16;
	fh_default_types(hca);
	ret = fh_parent(hca);
	if (ret) {
		kfree(hca);
		return ret;
	}
	list_add_tail(&hca->node, &fh_hcas);
	ret = fh_dev_create(hca);
	if (ret) {
		hca->kind = FH_ROCE;	/* has no type files yet */
		fh_del(hca);
		return ret;
	}
	fh_type_files(hca, true);
	return 0;
}
