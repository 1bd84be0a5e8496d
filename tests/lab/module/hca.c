// SPDX-License-Identifier: GPL-2.0
/* fake_hca: adapters, that come and go, and the ib_device that each has while it is there. */
#include "eth.h"
#include <linux/sched/signal.h>

LIST_HEAD(fh_hcas);
DEFINE_MUTEX(fh_hcas_lock);

const char * const fh_kind_names[FH_KINDS] = { [FH_IB] = "ib", [FH_EIB] = "eib", [FH_ROCE] = "roce",
	[FH_IWARP] = "iwarp", [FH_OPA] = "opa" };

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
			ib_device_set_netdev(&dev->ibdev, NULL, p);	/* where the device never was registered */
			fh_eth_destroy(port);
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
		ret = fh_eth_register(port);
		return ret ? ret : ib_device_set_netdev(&dev->ibdev, ndev, p);
	}
	port->unplugged = !fh_active;
	port->mcmtu = hca->kind == FH_OPA ? 10240 : fh_mtu;
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
	if (hca->kind == FH_IWARP)
		dev->ibdev.node_type = RDMA_NODE_RNIC;
	if (!hca->q.hold)
		ib_set_device_ops(&dev->ibdev, &fh_disassociate_ops);
	for (p = 1; p <= hca->ports; p++)
		if (hca->eth[p] && hca->kind != FH_IWARP)
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

/*
 * mellanox/mlx4/main.c:1177, __set_port_type, of a board without DPDP: types that differ are refused (:312), and what was
 * refused is kept in mind and holds with the next that is written.
 */
static int types_of_both(struct fh_hca *hca, int p, bool eth)
{
	bool want[3], change;
	int i;

	hca->in_mind[p] = 1 + eth;
	for (i = 1; i <= 2; i++)
		want[i] = hca->in_mind[i] ? hca->in_mind[i] - 1 : hca->eth[i];
	if (want[1] != want[2])
		return -EOPNOTSUPP;
	change = want[1] != hca->eth[1] || want[2] != hca->eth[2];
	if (change)
		fh_dev_destroy(hca);
	for (i = 1; i <= 2; i++) {
		hca->in_mind[i] = 0;
		hca->eth[i] = want[i];
		strscpy(hca->type[i], want[i] ? "eth" : "ib", sizeof(hca->type[i]));
	}
	return change ? fh_dev_create(hca) : 0;
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
	eth = t == 2 ? hca->eth[p] : t == 1;
	if (hca->q.no_dpdp && hca->ports == 2) {
		ret = types_of_both(hca, p, eth);
		mutex_unlock(&fh_hcas_lock);
		return ret ? ret : count;
	}
	strscpy(hca->type[p], types[t], sizeof(hca->type[p]));
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
			if (a->attr.name)	/* it was added */
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

void fh_del(struct fh_hca *hca)
{
	list_del(&hca->node);
	if (hca->parent) {
		fh_stop(hca);
		fh_unparent(hca);
	}
	kfree(hca);
}

static void fh_default_types(struct fh_hca *hca)
{
	int p;

	for (p = 1; p <= hca->ports; p++) {
		hca->eth[p] = hca->kind == FH_ROCE || hca->kind == FH_IWARP;
		strscpy(hca->type[p], hca->eth[p] ? "eth" : "ib", sizeof(hca->type[p]));
	}
}

static int fh_flag(const char *value, bool *flag)
{
	return !*value ? (*flag = true, 0) : !strcmp(value, "off") ? (*flag = false, 0) : kstrtobool(value, flag);
}

static int fh_number(const char *value, int min, int max, int *to)
{
	int n, ret = kstrtoint(value, 0, &n);

	if (ret || n < min || n > max)
		return ret ? ret : -EINVAL;
	*to = n;
	return 0;
}

static const char * const fh_live[] = { "negotiated", "train", "open", "mtu" };	/* what holds at once */

/* One option of a device, "key=value"; others than live ones hold from the next fh_start() on. */
int fh_option(struct fh_hca *hca, const char *key, const char *value)
{
	struct fh_quirks *q = &hca->q;
	const struct fh_dcb *dcb;
	int n, ret;

	if (!strcmp(key, "dcb")) {
		dcb = fh_dcb_find(value);
		if (!dcb)
			return -EINVAL;
		q->dcb = dcb;
		q->tcs = dcb->tcs;
		q->lltc = dcb->lltc;
		q->hold = !dcb->disassociates;
		for (n = 1; n <= FH_MAX_PORTS; n++)
			fh_fw_init(&hca->fw[n]);
		return 0;
	}
	if (!strcmp(key, "driver"))
		return *value && strscpy(q->driver, value, sizeof(q->driver)) > 0 ? 0 : -EINVAL;
	if (!strcmp(key, "sf"))
		return *value && strscpy(q->sf_of, value, sizeof(q->sf_of)) > 0 ? 0 : -EINVAL;
	if (!strcmp(key, "beside"))
		return *value && hca->kind != FH_IB && strscpy(q->beside, value, sizeof(q->beside)) > 0 ? 0 : -EINVAL;
	if (!strcmp(key, "linux")) {
		q->v612 = !strcmp(value, "6.12");
		return q->v612 || !strcmp(value, "6.1") ? 0 : -EINVAL;
	}
	if (!strcmp(key, "roce")) {
		q->roce_off = !strcmp(value, "off");
		return 0;
	}
	if (!strcmp(key, "dpdp")) {
		q->no_dpdp = !strcmp(value, "off");
		return 0;
	}
	if (!strcmp(key, "switchdev"))
		return fh_flag(value, &q->switchdev);
	if (!strcmp(key, "agent"))
		return fh_flag(value, &q->agent);
	if (!strcmp(key, "negotiated"))
		return fh_flag(value, &q->negotiated);
	if (!strcmp(key, "hold"))
		return fh_flag(value, &q->hold);
	if (!strcmp(key, "train"))
		return fh_number(value, 0, 60000, &q->train);
	if (!strcmp(key, "open"))
		return fh_number(value, 0, 60000, &q->open);
	if (!strcmp(key, "mtu"))
		return fh_number(value, 0, 60000, &q->mtu);
	if (strcmp(key, "tcs") && strcmp(key, "lltc"))
		return -EINVAL;
	ret = fh_number(value, key[0] == 'l' ? 0 : 1, 8, &n);
	if (!ret)
		*(key[0] == 'l' ? &q->lltc : &q->tcs) = n;
	return ret;
}

/* "a=b:c" */
static int fh_options(struct fh_hca *hca, const char *text)
{
	char *copy = kstrdup(text, GFP_KERNEL), *rest = copy, *word, *value;
	int ret = copy ? 0 : -ENOMEM;

	while (!ret && (word = strsep(&rest, ":"))) {
		if (!*word)
			continue;
		value = strchr(word, '=');
		if (value)
			*value++ = 0;
		ret = fh_option(hca, word, value ? value : "");
	}
	kfree(copy);
	return ret;
}

int fh_start(struct fh_hca *hca)
{
	int ret;

	fh_default_types(hca);
	ret = fh_dev_create(hca);
	fh_type_files(hca, true);
	return ret;
}

void fh_stop(struct fh_hca *hca)
{
	fh_type_files(hca, false);
	fh_dev_destroy(hca);
}

/* As a driver that is unloaded and loaded again: settings in firmware stay. */
int fh_reload(struct fh_hca *hca)
{
	struct fh_hca *sf;
	int ret;

	list_for_each_entry(sf, &fh_hcas, node)
		if (sf != hca && fh_hangs_on(sf, hca->parent))
			return -EBUSY;
	if (!hca->parent)
		return -ENODEV;
	fh_stop(hca);
	fh_unparent(hca);
	ret = fh_parent(hca);
	return ret ? ret : fh_start(hca);
}

int fh_set(struct fh_hca *hca, const char *key, const char *value)
{
	int ret = fh_option(hca, key, value);

	return ret || match_string(fh_live, ARRAY_SIZE(fh_live), key) >= 0 ? ret : fh_reload(hca);
}

int fh_add(const char *kind, const char *name, int ports, u64 guid, const char *options)
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
	hca->q.train = 500;
	ret = fh_option(hca, "dcb", k == FH_IB ? "plain" : "mlx5");
	if (!ret)
		ret = fh_options(hca, options);
	if (!ret)
		ret = fh_parent(hca);
	if (ret) {
		kfree(hca);
		return ret;
	}
	list_add_tail(&hca->node, &fh_hcas);
	ret = fh_start(hca);
	if (ret)
		fh_del(hca);
	return ret;
}
