// SPDX-License-Identifier: GPL-2.0
/* fake_hca: the attributes of a device and its ports. */
#include "eth.h"

/* The adapters that the kinds are modelled on: ConnectX-3, ConnectX-5, ConnectX-5 with Ethernet ports. */
static const struct fh_hw {
	u32 part, rev, fw[3];
	const char *board;
} fh_hw[] = {
	[FH_IB] = { 4099, 0, { 2, 42, 5000 }, "FAK1090120019" },
	[FH_EIB] = { 4119, 0, { 16, 35, 2000 }, "FAK0000000008" },
	[FH_ROCE] = { 4119, 0, { 16, 35, 2000 }, "FAK0000000012" },
	[FH_IWARP] = { 4119, 0, { 16, 35, 2000 }, "FAK0000000012" },
	[FH_OPA] = { 9456, 16, { 1, 27, 0 }, "FAK0000000011" },
};

static bool fh_no_roce(const struct fh_hca *hca) { return hca->q.roce_off || hca->q.switchdev; }

/* The driver whose adapter it is, when that is none of Mellanox's. */
static const struct fh_dcb *other_maker(const struct fh_hca *hca)
{
	return hca->q.dcb->vendor != 0x02c9 ? hca->q.dcb : NULL;
}

static int fh_query_device(struct ib_device *ibdev, struct ib_device_attr *a, struct ib_udata *udata)
{
	const struct fh_hca *hca = dev_of(ibdev)->hca;
	const struct fh_hw *hw = &fh_hw[hca->kind];

	a->fw_ver = (u64)hw->fw[0] << 32 | hw->fw[1] << 16 | hw->fw[2];
	a->sys_image_guid = cpu_to_be64(hca->guid + 15);
	a->vendor_id = hca->kind == FH_OPA ? 0x1175 : hca->q.dcb->vendor;
	a->vendor_part_id = other_maker(hca) ? hca->q.dcb->part : hw->part;
	a->hw_ver = hw->rev;
	a->max_mr_size = ~0ULL;
	a->page_size_cap = PAGE_SIZE;
	a->max_qp = 65536;
	a->max_qp_wr = 16384;
	a->max_send_sge = a->max_recv_sge = 32;
	a->max_cq = 65536;
	a->max_cqe = 1 << 20;
	a->max_mr = a->max_pd = a->max_ah = 65536;
	a->max_mcast_grp = 8192;
	a->max_mcast_qp_attach = 248;
	a->max_total_mcast_qp_attach = 8192 * 248;
	a->max_srq = fh_srq ? 65536 : 0;
	a->max_srq_wr = fh_srq ? 16383 : 0;
	a->max_srq_sge = fh_srq ? 31 : 0;
	a->max_pkeys = fh_pkeys;
	a->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	return 0;
}

static int fh_query_port(struct ib_device *ibdev, u32 n, struct ib_port_attr *a)
{
	struct fh_port *p = &dev_of(ibdev)->port[n];
	const struct ib_port_info *pi = &p->sma.pi;

	a->max_msg_sz = 1 << 30;
	a->max_vl_num = 4;
	a->active_width = p->narrow ? IB_WIDTH_1X : IB_WIDTH_4X;
	a->active_speed = IB_SPEED_QDR;
	if (p->eth) {
		bool up = netif_running(p->ndev) && netif_carrier_ok(p->ndev);

		a->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
		a->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
		a->max_mtu = IB_MTU_4096;
		a->active_mtu = IB_MTU_1024;
		a->gid_tbl_len = p->dev->hca->kind == FH_IWARP ? 1 : fh_no_roce(p->dev->hca) ? 0 : 128;
		a->pkey_tbl_len = p->dev->hca->kind != FH_IWARP;
		a->port_cap_flags = IB_PORT_CM_SUP;
		a->ip_gids = true;
		return 0;
	}
	a->state = port_state(p);
	a->phys_state = pi->portphysstate_linkdown >> 4;
	a->max_mtu = pi->inittypereply_mtucap & 0xf;	/* of Omni-Path too, which has more: hfi1/verbs.c:1396-1400 */
	a->phys_mtu = p->dev->hca->kind == FH_OPA ? 10240 : ib_mtu_enum_to_int(a->max_mtu);
	a->active_mtu = pi->neighbormtu_mastersmsl >> 4;
	a->gid_tbl_len = 1;	/* ib_core takes the subnet prefix from the last one */
	a->pkey_tbl_len = fh_pkeys;
	a->port_cap_flags = be32_to_cpu(pi->cap_mask);
	a->lid = port_lid(p);
	a->lmc = pi->mkeyprot_resv_lmc & 7;
	a->sm_lid = be16_to_cpu(pi->sm_lid);
	a->sm_sl = pi->neighbormtu_mastersmsl & 0xf;
	a->subnet_timeout = pi->clientrereg_resv_subnetto & 0x1f;
	return 0;
}

static int fh_get_port_immutable(struct ib_device *ibdev, u32 n, struct ib_port_immutable *im)
{
	const struct fh_hca *hca = dev_of(ibdev)->hca;
	bool eth = dev_of(ibdev)->port[n].eth;

	im->max_mad_size = hca->kind == FH_IWARP || (eth && fh_no_roce(hca)) ? 0 : IB_MGMT_MAD_SIZE;
	im->pkey_tbl_len = eth ? 1 : fh_pkeys;
	im->gid_tbl_len = eth ? 128 : 1;
	if (hca->kind == FH_OPA) {		/* infiniband/hw/hfi1/verbs.c:1831 */
		im->core_cap_flags = RDMA_CORE_PORT_INTEL_OPA;
		im->max_mad_size = OPA_MGMT_MAD_SIZE;
	} else if (!eth) {
		im->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	} else if (hca->kind == FH_IWARP) {	/* infiniband/hw/irdma/verbs.c:3667, cxgb4/provider.c:431 */
		im->core_cap_flags = RDMA_CORE_PORT_IWARP;
		im->pkey_tbl_len = 0;
		im->gid_tbl_len = 1;
	} else if (fh_no_roce(hca)) {		/* mlx5/main.c:2884, get_core_cap_flags; mlx5_port_rep_immutable */
		im->core_cap_flags = RDMA_CORE_PORT_RAW_PACKET;
		im->gid_tbl_len = 0;
	} else {				/* irdma/verbs.c:3649 has RoCE v2 alone */
		im->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
		if (hca->q.dcb->roce_v1)
			im->core_cap_flags |= RDMA_CORE_PORT_IBA_ROCE;
	}
	return 0;
}

static enum rdma_link_layer fh_link_layer(struct ib_device *ibdev, u32 n)
{
	return dev_of(ibdev)->port[n].eth ? IB_LINK_LAYER_ETHERNET : IB_LINK_LAYER_INFINIBAND;
}

static int fh_query_pkey(struct ib_device *ibdev, u32 n, u16 index, u16 *pkey)
{
	const struct fh_port *p = &dev_of(ibdev)->port[n];

	if (p->eth ? index > 0 : index >= fh_pkeys)
		return -EINVAL;
	*pkey = p->eth ? 0xffff : p->sma.pkey[index];
	return 0;
}

static int fh_query_gid(struct ib_device *ibdev, u32 n, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (dev_of(ibdev)->hca->kind == FH_IWARP)	/* the address of the interface, and zeros */
		memcpy(gid->raw, dev_of(ibdev)->port[n].ndev->dev_addr, ETH_ALEN);
	else if (!index)
		port_gid(&dev_of(ibdev)->port[n], gid);
	return 0;
}

static int fh_add_gid(const struct ib_gid_attr *attr, void **context) { return 0; }
static int fh_del_gid(const struct ib_gid_attr *attr, void **context) { return 0; }

static int fh_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *m)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	memcpy(ibdev->node_desc, m->node_desc, IB_DEVICE_NODE_DESC_MAX);
	return 0;
}

/* A subnet manager that opens /dev/infiniband/issmN sets IsSM here. */
static int fh_modify_port(struct ib_device *ibdev, u32 n, int mask, struct ib_port_modify *m)
{
	struct ib_port_info *pi = &dev_of(ibdev)->port[n].sma.pi;

	pi->cap_mask |= cpu_to_be32(m->set_port_cap_mask);
	pi->cap_mask &= ~cpu_to_be32(m->clr_port_cap_mask);
	return 0;
}

static void fh_fw_str(struct ib_device *ibdev, char *str)
{
	const struct fh_hw *hw = &fh_hw[dev_of(ibdev)->hca->kind];
	const struct fh_dcb *other = other_maker(dev_of(ibdev)->hca);

	if (other)
		strscpy(str, other->fw, IB_FW_VERSION_NAME_MAX);
	else
		snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%04u", hw->fw[0], hw->fw[1], hw->fw[2]);
}

static const struct fh_hw *hw_of(struct device *d)
{
	return &fh_hw[rdma_device_to_drv_device(d, struct fh_dev, ibdev)->hca->kind];
}

static const struct fh_hca *hca_of(struct device *d)
{
	return rdma_device_to_drv_device(d, struct fh_dev, ibdev)->hca;
}

static ssize_t hca_type_show(struct device *d, struct device_attribute *a, char *buf)
{
	if (other_maker(hca_of(d)))
		return sysfs_emit(buf, "%s\n", hca_of(d)->q.dcb->hca_type);
	return sysfs_emit(buf, "MT%d\n", hw_of(d)->part);
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *d, struct device_attribute *a, char *buf)
{
	return sysfs_emit(buf, "%x\n", hw_of(d)->rev);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t board_id_show(struct device *d, struct device_attribute *a, char *buf)
{
	return sysfs_emit(buf, "%s\n", hw_of(d)->board);
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *fh_attrs[] = {
	&dev_attr_hca_type.attr, &dev_attr_hw_rev.attr, &dev_attr_board_id.attr, NULL,
};

/* Not every driver has all three: irdma, bnxt_re, hns-roce and qedr have no board_id. */
static umode_t fh_visible(struct kobject *kobj, struct attribute *a, int n)
{
	const struct fh_dcb *other = other_maker(hca_of(kobj_to_dev(kobj)));

	return other && (a == &dev_attr_board_id.attr || (a == &dev_attr_hca_type.attr && !*other->hca_type)) ? 0 : a->mode;
}

static const struct attribute_group fh_group = { .attrs = fh_attrs, .is_visible = fh_visible };

const struct ib_device_ops fh_device_ops = {
	.device_group = &fh_group,
	.get_dev_fw_str = fh_fw_str,
	.get_link_layer = fh_link_layer,
	.get_port_immutable = fh_get_port_immutable,
	.modify_device = fh_modify_device,
	.modify_port = fh_modify_port,
	.query_device = fh_query_device,
	.query_gid = fh_query_gid,
	.query_pkey = fh_query_pkey,
	.query_port = fh_query_port,
};

const struct ib_device_ops fh_roce_ops = {
	.add_gid = fh_add_gid,
	.del_gid = fh_del_gid,
};
