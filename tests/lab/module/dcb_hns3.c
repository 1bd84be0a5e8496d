// SPDX-License-Identifier: GPL-2.0
/*
 * fake_hca: DCB as hns3 has it (RDMA: hns-roce).  Source: hisilicon/hns3/hns3_dcbnl.c, hns3pf/hclge_dcb.c, hclge_tm.c.
 *
 * A change of PFC, and one of ETS that is more than shares, stops and starts the port: carrier is lost until the service
 * task has seen the link again (hns3_enet.c, hns3_nic_net_stop).
 */
#include "eth.h"

#define BUSY_IN_RESET(_e) do { if ((_e)->resetting) return -EBUSY; } while (0)	/* hns3_dcbnl.c:11 and the others */

static int hns3_getets(struct net_device *dev, struct ieee_ets *v)
{
	struct fh_eth *e = eth_of(dev);
	int i;

	BUSY_IN_RESET(e);
	memset(v, 0, sizeof(*v));
	v->willing = 1;
	v->ets_cap = quirks_of(e)->tcs;
	for (i = 0; i < FH_TCS; i++) {
		v->prio_tc[i] = e->ets.prio_tc[i];
		v->tc_tsa[i] = e->ets.tc_tsa[i];
		v->tc_tx_bw[i] = i < e->p.hns3.num_tc ? e->ets.tc_tx_bw[i] : 0;
	}
	return 0;
}

/*
 * hclge_ets_validate, hclge_dcb.c:79-199: classes without a gap up to the highest that is used; ETS on none beyond them
 * and on none with 0 %; the shares are 100 in sum.
 */
static int hns3_setets(struct net_device *dev, struct ieee_ets *v)
{
	struct fh_eth *e = eth_of(dev);
	int i, num = 0, sum = 0, max = quirks_of(e)->tcs;
	bool changed, ets = false;

	BUSY_IN_RESET(e);
	if (!(e->dcbx & DCB_CAP_DCBX_VER_IEEE))
		return -EINVAL;
	changed = memcmp(v->prio_tc, e->ets.prio_tc, FH_TCS);
	for (i = 0; i < FH_TCS; i++)
		num = max_t(int, num, v->prio_tc[i] + 1);
	if (num > max)
		return -EINVAL;
	for (i = 0; i < FH_TCS; i++) {
		if (v->tc_tsa[i] != IEEE_8021QAZ_TSA_STRICT && v->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS)
			return -EINVAL;
		changed |= v->tc_tsa[i] != e->ets.tc_tsa[i];
		if (v->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS)
			continue;
		if (i >= num || !v->tc_tx_bw[i])
			return -EINVAL;
		ets = true;
		sum += v->tc_tx_bw[i];
	}
	if (ets && sum != 100)
		return -EINVAL;
	changed |= num != e->p.hns3.num_tc;
	e->p.hns3.num_tc = num;
	for (i = 0; i < FH_TCS; i++) {
		e->ets.prio_tc[i] = v->prio_tc[i];
		e->ets.tc_tsa[i] = v->tc_tsa[i];
		e->ets.tc_tx_bw[i] = v->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS ? v->tc_tx_bw[i] : 0;
	}
	if (changed)
		fh_eth_retrain(e);
	return 0;
}

static int hns3_getpfc(struct net_device *dev, struct ieee_pfc *v)
{
	struct fh_eth *e = eth_of(dev);

	BUSY_IN_RESET(e);
	memset(v, 0, sizeof(*v));
	v->pfc_cap = quirks_of(e)->tcs;		/* pfc_max = tc_max: hclge_main.c:1574 */
	v->pfc_en = e->pfc.pfc_en;
	return 0;
}

/* hclge_ieee_setpfc, hclge_dcb.c:318-368. */
static int hns3_setpfc(struct net_device *dev, struct ieee_pfc *v)
{
	struct fh_eth *e = eth_of(dev);

	BUSY_IN_RESET(e);
	if (!(e->dcbx & DCB_CAP_DCBX_VER_IEEE))
		return -EINVAL;
	if (v->pfc_en == e->pfc.pfc_en)
		return 0;
	e->pfc.pfc_en = v->pfc_en;
	fh_eth_retrain(e);
	return 0;
}

/* hclge_ieee_setapp, hclge_dcb.c:370-414: another priority replaces the entry; the same one is not an error. */
static int hns3_setapp(struct net_device *dev, struct dcb_app *app)
{
	struct fh_eth *e = eth_of(dev);
	struct dcb_app old = *app;
	u8 *prio;
	int err;

	BUSY_IN_RESET(e);
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= FH_DSCPS || app->priority >= 8)
		return -EINVAL;
	prio = &e->p.hns3.dscp2prio[app->protocol];
	if (app->priority == *prio)
		return 0;
	err = dcb_ieee_setapp(dev, app);
	if (err)
		return err;
	old.priority = *prio;
	*prio = app->priority;
	if (old.priority != FH_NO_PRIO)
		return dcb_ieee_delapp(dev, &old);
	e->p.hns3.apps++;
	return 0;
}

/* hclge_ieee_delapp, hclge_dcb.c:416-455. */
static int hns3_delapp(struct net_device *dev, struct dcb_app *app)
{
	struct fh_eth *e = eth_of(dev);
	int err;

	BUSY_IN_RESET(e);
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= FH_DSCPS || app->priority >= 8 ||
	    app->priority != e->p.hns3.dscp2prio[app->protocol])
		return -EINVAL;
	err = dcb_ieee_delapp(dev, app);
	if (err)
		return err;
	e->p.hns3.dscp2prio[app->protocol] = FH_NO_PRIO;
	e->p.hns3.apps--;
	return 0;
}

/* hclge_setdcbx, hclge_dcb.c:469-486. */
static u8 hns3_setdcbx(struct net_device *dev, u8 mode)
{
	if ((mode & DCB_CAP_DCBX_LLD_MANAGED) || (mode & DCB_CAP_DCBX_VER_CEE) || !(mode & DCB_CAP_DCBX_HOST))
		return 1;
	eth_of(dev)->dcbx = mode;
	return 0;
}

static const struct dcbnl_rtnl_ops hns3_ops = {
	.ieee_getets = hns3_getets,
	.ieee_setets = hns3_setets,
	.ieee_getpfc = hns3_getpfc,
	.ieee_setpfc = hns3_setpfc,
	.ieee_setapp = hns3_setapp,
	.ieee_delapp = hns3_delapp,
	.getdcbx = fh_getdcbx,
	.setdcbx = hns3_setdcbx,
};

/* At load one class, by shares (hclge_main.c:1577, hclge_tm.c:760).  A reset keeps what the driver knows, and sets it again. */
static void hns3_init(struct fh_eth *e)
{
	if (e->p.hns3.num_tc)
		return;
	e->p.hns3.num_tc = 1;
	e->ets.tc_tsa[0] = IEEE_8021QAZ_TSA_ETS;
	e->ets.tc_tx_bw[0] = 100;
	memset(e->p.hns3.dscp2prio, FH_NO_PRIO, sizeof(e->p.hns3.dscp2prio));
	e->dcbx = DCB_CAP_DCBX_VER_IEEE | DCB_CAP_DCBX_HOST;	/* hclge_dcb.c:655 */
}

const struct fh_dcb fh_dcb_hns3 = {
	.name = "hns3", .driver = "hns3", .ethtool = "hns3", .vendor = 0x19e5, .part = 0xa222, .hca_type = "", .fw = "",
	.roce_v1 = true, .disassociates = true, .tcs = 8, .lltc = 8, .ops = &hns3_ops, .init = hns3_init,
};
