// SPDX-License-Identifier: GPL-2.0
/*
 * fake_hca: DCB as bnxt_en has it (RDMA: bnxt_re).  Source: broadcom/bnxt/bnxt_dcb.c.
 *
 * tcs is max_tc: the queues of the port less those for congestion notification (bnxt.c, bnxt_hwrm_queue_qportcfg); lltc
 * is how many classes may be lossless, and what pfc_cap says.
 */
#include "eth.h"

static bool host(const struct fh_eth *e)
{
	return (e->dcbx & DCB_CAP_DCBX_VER_IEEE) && (e->dcbx & DCB_CAP_DCBX_HOST);
}

/* bnxt_dcbnl_ieee_getets, :520-555: nothing but the capability until ETS was set, when the host is in charge. */
static int bnxt_getets(struct net_device *dev, struct ieee_ets *v)
{
	struct fh_eth *e = eth_of(dev);

	v->ets_cap = quirks_of(e)->tcs;
	if (!e->p.bnxt.ets)
		return 0;
	v->cbs = e->ets.cbs;
	memcpy(v->tc_tx_bw, e->ets.tc_tx_bw, sizeof(v->tc_tx_bw));
	memcpy(v->tc_rx_bw, e->ets.tc_rx_bw, sizeof(v->tc_rx_bw));
	memcpy(v->tc_tsa, e->ets.tc_tsa, sizeof(v->tc_tsa));
	memcpy(v->prio_tc, e->ets.prio_tc, sizeof(v->prio_tc));
	return 0;
}

/* bnxt_ets_validate, :472-518, with its bounds as they are: class max_tc passes, the highest class used is not summed. */
static int bnxt_setets(struct net_device *dev, struct ieee_ets *v)
{
	struct fh_eth *e = eth_of(dev);
	int i, sum = 0, top = 0, max = quirks_of(e)->tcs;
	bool zero = false;
	u8 num;

	if (!host(e))
		return -EINVAL;
	for (i = 0; i < FH_TCS; i++) {
		if (v->prio_tc[i] > max || ((v->tc_tx_bw[i] || v->tc_tsa[i]) && i > max))
			return -EINVAL;
		top = max_t(int, top, v->prio_tc[i]);
	}
	for (i = 0; i < top; i++) {
		if (v->tc_tsa[i] == IEEE_8021QAZ_TSA_STRICT)
			continue;
		if (v->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS)
			return -ENOTSUPP;
		sum += v->tc_tx_bw[i];
		zero |= !v->tc_tx_bw[i];
	}
	if (sum > 100 || (zero && sum == 100))
		return -EINVAL;
	num = top >= max ? max : top + 1;
	if (num != e->p.bnxt.num_tc)	/* bnxt_setup_mq_tc, bnxt.c:12893: closes and opens the rings */
		fh_eth_blink(e);
	e->p.bnxt.num_tc = num;
	e->p.bnxt.ets = true;
	e->ets = *v;
	return 0;
}

/* bnxt_dcbnl_ieee_getpfc, :593-631. */
static int bnxt_getpfc(struct net_device *dev, struct ieee_pfc *v)
{
	struct fh_eth *e = eth_of(dev);

	v->pfc_cap = quirks_of(e)->lltc;
	if (e->p.bnxt.pfc) {
		v->pfc_en = e->pfc.pfc_en;
		v->mbc = e->pfc.mbc;
		v->delay = e->pfc.delay;
	}
	return 0;
}

/* bnxt_hwrm_queue_pfc_cfg, :249-295: not before ETS; counts classes; gives them lossless queues (the first lltc here). */
static int bnxt_setpfc(struct net_device *dev, struct ieee_pfc *v)
{
	struct fh_eth *e = eth_of(dev);
	int i, prio, max = quirks_of(e)->tcs, lltc = quirks_of(e)->lltc, free = 0;
	unsigned int mask = 0;
	bool remap = false;

	if (!host(e))
		return -EINVAL;
	e->p.bnxt.pfc = true;
	if (!e->p.bnxt.ets)
		return -EINVAL;
	for (prio = 0; prio < 8; prio++)
		if ((v->pfc_en & BIT(prio)) && e->ets.prio_tc[prio] < max)
			mask |= BIT(e->ets.prio_tc[prio]);
	if (hweight8(mask) > lltc)
		return -EINVAL;
	for (i = 0; i < max; i++)
		remap |= (mask & BIT(i)) && e->p.bnxt.qidx[i] >= lltc;
	if (remap) {			/* bnxt_queue_remap, :193-247 */
		for (i = 0; i < max; i++)
			if (mask & BIT(i))
				e->p.bnxt.qidx[i] = free++;
		for (i = 0; i < max; i++)
			if (!(mask & BIT(i)))
				e->p.bnxt.qidx[i] = free++;
		fh_eth_blink(e);
	}
	e->pfc = *v;
	return 0;
}

/* bnxt_dcbnl_ieee_setapp, :668-695: any selector; the core keeps the table, so that one value may have two priorities. */
static int bnxt_setapp(struct net_device *dev, struct dcb_app *app)
{
	if (!host(eth_of(dev)) || (app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol >= FH_DSCPS))
		return -EINVAL;
	return dcb_ieee_setapp(dev, app);
}

static int bnxt_delapp(struct net_device *dev, struct dcb_app *app)
{
	if (!host(eth_of(dev)) || (app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol >= FH_DSCPS))
		return -EINVAL;
	return dcb_ieee_delapp(dev, app);
}

/* bnxt_dcbnl_setdcbx, :732-755: 0 is taken, and then nothing can be set any more; the agent is of the NVRAM. */
static u8 bnxt_setdcbx(struct net_device *dev, u8 mode)
{
	struct fh_eth *e = eth_of(dev);

	if (e->dcbx & DCB_CAP_DCBX_LLD_MANAGED)
		return 1;
	if (mode & DCB_CAP_DCBX_HOST)
		if (quirks_of(e)->agent || (mode & DCB_CAP_DCBX_VER_CEE) || !(mode & DCB_CAP_DCBX_VER_IEEE))
			return 1;
	e->dcbx = mode;
	return 0;
}

static const struct dcbnl_rtnl_ops bnxt_ops = {
	.ieee_getets = bnxt_getets,
	.ieee_setets = bnxt_setets,
	.ieee_getpfc = bnxt_getpfc,
	.ieee_setpfc = bnxt_setpfc,
	.ieee_setapp = bnxt_setapp,
	.ieee_delapp = bnxt_delapp,
	.getdcbx = fh_getdcbx,
	.setdcbx = bnxt_setdcbx,
};

/* bnxt_dcb_init, :768-781. */
static void bnxt_init(struct fh_eth *e)
{
	int i;

	e->dcbx = DCB_CAP_DCBX_VER_IEEE | (quirks_of(e)->agent ? DCB_CAP_DCBX_LLD_MANAGED : DCB_CAP_DCBX_HOST);
	for (i = 0; i < FH_TCS; i++)
		e->p.bnxt.qidx[i] = i;
}

/* bnxt_re has no disassociate_ucontext: infiniband/hw/bnxt_re/main.c, bnxt_re_dev_ops. */
const struct fh_dcb fh_dcb_bnxt = {
	.name = "bnxt", .driver = "bnxt_en", .ethtool = "bnxt_en", .vendor = 0x14e4, .part = 0x1750, .hca_type = "", .fw = "226.0.145.0",
	.roce_v1 = true, .tcs = 8, .lltc = 2, .ops = &bnxt_ops, .init = bnxt_init,
};
