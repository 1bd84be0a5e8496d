// SPDX-License-Identifier: GPL-2.0
/*
 * fake_hca: DCB as qede has it (RDMA: qedr).  Source: qlogic/qede/qede_dcbnl.c, qlogic/qed/qed_dcbx.c.
 *
 * Nothing is there while DCBX has not been negotiated with the switch (:1295-1300).  What IEEE messages set is kept for
 * DCB_CMD_SET_ALL, a CEE message (qed_dcbx_config_params with hw_commit 0, :1201-1214; setall, :1638): nothing that the
 * getters return, which read what is in force, changes by them.  Nobody but openlldp's CEE sends that message.
 */
#include "eth.h"

#define NEGOTIATED(_e) do { if (!quirks_of(_e)->negotiated) return -EINVAL; } while (0)

static int qede_getets(struct net_device *dev, struct ieee_ets *v)
{
	struct fh_eth *e = eth_of(dev);

	NEGOTIATED(e);
	v->ets_cap = e->ets.ets_cap;
	v->willing = e->ets.willing;
	v->cbs = e->ets.cbs;
	memcpy(v->tc_tx_bw, e->ets.tc_tx_bw, sizeof(v->tc_tx_bw));
	memcpy(v->tc_tsa, e->ets.tc_tsa, sizeof(v->tc_tsa));
	memcpy(v->prio_tc, e->ets.prio_tc, sizeof(v->prio_tc));
	return 0;
}

static void prepare(struct fh_eth *e)
{
	if (!e->p.qede.valid) {
		e->p.qede.ets = e->ets;
		e->p.qede.pfc = e->pfc;
		e->p.qede.valid = true;
	}
}

static int qede_setets(struct net_device *dev, struct ieee_ets *v)
{
	struct fh_eth *e = eth_of(dev);

	NEGOTIATED(e);
	prepare(e);
	e->p.qede.ets = *v;
	return 0;
}

static int qede_getpfc(struct net_device *dev, struct ieee_pfc *v)
{
	struct fh_eth *e = eth_of(dev);

	NEGOTIATED(e);
	v->pfc_cap = e->pfc.pfc_cap;
	v->pfc_en = e->pfc.pfc_en;
	return 0;
}

static int qede_setpfc(struct net_device *dev, struct ieee_pfc *v)
{
	struct fh_eth *e = eth_of(dev);

	NEGOTIATED(e);
	prepare(e);
	e->p.qede.pfc = *v;
	return 0;
}

/*
 * qede_dcbnl_ieee_setapp tells the core first, so that an entry is listed even when the driver refuses it; DSCP is no
 * selector of the firmware (qed_get_sf_ieee_value, :2229).  There is no delapp: the core deletes.
 */
static int qede_setapp(struct net_device *dev, struct dcb_app *app)
{
	int err = dcb_ieee_setapp(dev, app);

	if (err)
		return err;
	if (app->priority >= 8 || app->selector < IEEE_8021QAZ_APP_SEL_ETHERTYPE || app->selector > IEEE_8021QAZ_APP_SEL_ANY)
		return -EINVAL;
	NEGOTIATED(eth_of(dev));
	return 0;
}

/* qed_dcbnl_getdcbx, :1539: never HOST, never LLD_MANAGED; 0 while nothing is negotiated. */
static u8 qede_getdcbx(struct net_device *dev)
{
	return quirks_of(eth_of(dev))->negotiated ? DCB_CAP_DCBX_VER_IEEE : 0;
}

/* qed_dcbnl_setdcbx, :1806: It does not look at the bit HOST. */
static u8 qede_setdcbx(struct net_device *dev, u8 mode)
{
	return !(mode & (DCB_CAP_DCBX_VER_IEEE | DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_STATIC));
}

static u8 qede_setall(struct net_device *dev)
{
	struct fh_eth *e = eth_of(dev);

	if (e->p.qede.valid) {
		e->ets = e->p.qede.ets;
		e->pfc = e->p.qede.pfc;
	}
	e->p.qede.valid = false;
	return 0;
}

static const struct dcbnl_rtnl_ops qede_ops = {
	.ieee_getets = qede_getets,
	.ieee_setets = qede_setets,
	.ieee_getpfc = qede_getpfc,
	.ieee_setpfc = qede_setpfc,
	.ieee_setapp = qede_setapp,
	.getdcbx = qede_getdcbx,
	.setdcbx = qede_setdcbx,
	.setall = qede_setall,
};

/* A possible answer of a switch: priority 3 in a class of its own, lossless. */
static void qede_init(struct fh_eth *e)
{
	e->ets.ets_cap = quirks_of(e)->tcs;
	e->ets.tc_tx_bw[0] = e->ets.tc_tx_bw[1] = 50;
	e->ets.tc_tsa[0] = e->ets.tc_tsa[1] = IEEE_8021QAZ_TSA_ETS;
	e->ets.prio_tc[3] = 1;
	e->pfc.pfc_cap = quirks_of(e)->lltc;
	e->pfc.pfc_en = 8;
}

/* qedr has no disassociate_ucontext: infiniband/hw/qedr/main.c, qedr_dev_ops. */
const struct fh_dcb fh_dcb_qede = {
	.name = "qede", .driver = "qede", .ethtool = "qede", .vendor = 0x1077, .part = 0x8070, .hca_type = "QL45212", .fw = "8.59.1.0",
	.roce_v1 = true, .tcs = 4, .lltc = 4, .ops = &qede_ops, .init = qede_init,
};
