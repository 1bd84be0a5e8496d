// SPDX-License-Identifier: GPL-2.0
/*
 * fake_hca: DCB as i40e has it (X710 without RDMA, X722 with irdma's iWARP).  Source: intel/i40e/i40e_dcb_nl.c, i40e_main.c;
 * its private flag: i40e_ethtool.c.  6.12 differs in names alone.
 *
 * It is an adapter that is told by "Set LLDP MIB" (X722, and XL710 with firmware 4.40 or later: i40e_main.c:12809-12858).
 * APP entries of any selector go into the table that LLDP sends; packets are classified by VLAN priority.  Shares are
 * checked by the firmware, not by the driver: its refusals are not known and not played.
 */
#include "eth.h"

#define FH_I40E_APPS 32	/* I40E_DCBX_MAX_APPS */

static bool ours(const struct fh_eth *e)
{
	return (e->dcbx & DCB_CAP_DCBX_VER_IEEE) && !(e->dcbx & DCB_CAP_DCBX_LLD_MANAGED);
}

/* i40e_dcb_get_num_tc, i40e_main.c:5424: classes without a gap from 0 on; with one it is class 0 alone, and no error. */
static int num_tc(const struct ieee_ets *ets)
{
	int i, n;
	u8 used = 0;

	for (i = 0; i < FH_TCS; i++)
		used |= BIT(ets->prio_tc[i] & 7);
	n = ffz(used);
	return n && !(used >> n) ? n : 1;
}

/*
 * i40e_hw_dcb_config, i40e_main.c:6957: classes in use are ETS or strict.  When the classes of the priorities, PFC or the
 * APP table differ (i40e_dcb_need_reconfig, :9374), queues are stopped and started by ndo_stop and ndo_open, not by
 * dev_close: carrier goes and comes, addresses and routes stay.  Then all is told to the firmware, which stops them again.
 */
static int commit(struct fh_eth *e, const struct ieee_ets *ets, const struct ieee_pfc *pfc, bool apps)
{
	bool reconfig = apps || memcmp(ets->prio_tc, e->ets.prio_tc, FH_TCS) || pfc->pfc_en != e->pfc.pfc_en ||
			pfc->pfc_cap != e->pfc.pfc_cap;
	int i;

	for (i = 0; i < num_tc(ets); i++)
		if (ets->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS && ets->tc_tsa[i] != IEEE_8021QAZ_TSA_STRICT)
			return -EINVAL;
	e->ets = *ets;
	e->pfc = *pfc;
	if (!reconfig)
		return 0;
	fh_eth_blink(e);
	memcpy(e->ets.tc_reco_bw, ets->tc_tx_bw, FH_TCS);	/* i40e_hw_set_dcb_config, :6923 */
	memcpy(e->ets.tc_reco_tsa, ets->tc_tsa, FH_TCS);
	fh_eth_blink(e);
	return 0;
}

/* i40e_dcbnl_ieee_getets, i40e_dcb_nl.c:35: without IEEE there is none. */
static int i40e_getets(struct net_device *dev, struct ieee_ets *v)
{
	struct fh_eth *e = eth_of(dev);

	if (!(e->dcbx & DCB_CAP_DCBX_VER_IEEE))
		return -EINVAL;
	*v = e->ets;
	v->ets_cap = FH_TCS;
	memcpy(v->tc_rx_bw, v->tc_tx_bw, FH_TCS);
	memcpy(v->reco_prio_tc, v->prio_tc, FH_TCS);
	return 0;
}

static int i40e_setets(struct net_device *dev, struct ieee_ets *v)
{
	struct fh_eth *e = eth_of(dev);

	return ours(e) ? commit(e, v, &e->pfc, false) : -EINVAL;	/* :113 */
}

static int i40e_getpfc(struct net_device *dev, struct ieee_pfc *v)
{
	return eth_of(dev)->dcbx & DCB_CAP_DCBX_VER_IEEE ? fh_get_pfc(dev, v) : -EINVAL;	/* :81 */
}

/* i40e_dcbnl_ieee_setpfc, :154. */
static int i40e_setpfc(struct net_device *dev, struct ieee_pfc *v)
{
	struct fh_eth *e = eth_of(dev);
	struct ieee_pfc pfc = e->pfc;

	if (!ours(e))
		return -EINVAL;
	pfc.pfc_cap = v->pfc_cap ? v->pfc_cap : FH_TCS;
	pfc.pfc_en = v->pfc_en;
	return commit(e, &e->ets, &pfc, false);
}

static int find_app(const struct fh_eth *e, const struct dcb_app *app)
{
	int i;

	for (i = 0; i < e->p.i40e.napps; i++)
		if (!memcmp(&e->p.i40e.app[i], app, sizeof(*app)))
			break;
	return i;
}

/* i40e_dcbnl_ieee_setapp, :193: the core's table first, then its own, which is full with 32. */
static int i40e_setapp(struct net_device *dev, struct dcb_app *app)
{
	struct fh_eth *e = eth_of(dev);
	int err;

	if (!ours(e) || e->p.i40e.napps == FH_I40E_APPS)
		return -EINVAL;
	err = dcb_ieee_setapp(dev, app);
	if (err || find_app(e, app) < e->p.i40e.napps)
		return err;
	e->p.i40e.app[e->p.i40e.napps++] = *app;
	return commit(e, &e->ets, &e->pfc, true);
}

/* i40e_dcbnl_ieee_delapp, :245: the last one is the firmware's and stays. */
static int i40e_delapp(struct net_device *dev, struct dcb_app *app)
{
	struct fh_eth *e = eth_of(dev);
	int i, err;

	if (!ours(e))
		return -EINVAL;
	err = dcb_ieee_delapp(dev, app);
	if (err || e->p.i40e.napps == 1)
		return err;
	i = find_app(e, app);
	if (!i || i == e->p.i40e.napps)
		return -EINVAL;
	e->p.i40e.napps--;
	memmove(&e->p.i40e.app[i], &e->p.i40e.app[i + 1], (e->p.i40e.napps - i) * sizeof(*app));
	return commit(e, &e->ets, &e->pfc, true);
}

/* i40e_dcbnl_setdcbx, :778: the mode that it is in is taken, unlike with ice. */
static u8 i40e_setdcbx(struct net_device *dev, u8 mode)
{
	struct fh_eth *e = eth_of(dev);

	if ((e->dcbx & DCB_CAP_DCBX_LLD_MANAGED) || (mode & DCB_CAP_DCBX_LLD_MANAGED) || !(mode & DCB_CAP_DCBX_HOST) ||
	    ((mode & DCB_CAP_DCBX_VER_IEEE) && (mode & DCB_CAP_DCBX_VER_CEE)))
		return 1;
	e->dcbx = mode;
	return 0;
}

static const struct dcbnl_rtnl_ops i40e_ops = {
	.ieee_getets = i40e_getets,
	.ieee_setets = i40e_setets,
	.ieee_getpfc = i40e_getpfc,
	.ieee_setpfc = i40e_setpfc,
	.ieee_setapp = i40e_setapp,
	.ieee_delapp = i40e_delapp,
	.getdcbx = fh_getdcbx,
	.setdcbx = i40e_setdcbx,
};

/* i40e_dcb_sw_default_config, i40e_main.c:7130, and i40e_init_pf_dcb, :7203-7239. */
static void i40e_init(struct fh_eth *e)
{
	memset(&e->ets, 0, sizeof(e->ets));
	memset(&e->pfc, 0, sizeof(e->pfc));
	memset(&e->p.i40e, 0, sizeof(e->p.i40e));
	e->ets.willing = 1;
	e->ets.tc_tx_bw[0] = e->ets.tc_reco_bw[0] = 100;
	e->ets.tc_tsa[0] = e->ets.tc_reco_tsa[0] = IEEE_8021QAZ_TSA_ETS;
	e->pfc.pfc_cap = FH_TCS;
	e->p.i40e.app[0].selector = IEEE_8021QAZ_APP_SEL_ETHERTYPE;
	e->p.i40e.app[0].priority = 3;
	e->p.i40e.app[0].protocol = ETH_P_FCOE;
	e->p.i40e.napps = 1;
	e->dcbx = (quirks_of(e)->agent ? DCB_CAP_DCBX_LLD_MANAGED : DCB_CAP_DCBX_HOST) | DCB_CAP_DCBX_VER_IEEE;
}

/* i40e_link_event, :9984-10007: without a link everything is as at load, and no message of DCB says so. */
static void i40e_link_lost(struct fh_eth *e)
{
	if (!(e->dcbx & DCB_CAP_DCBX_LLD_MANAGED))
		i40e_init(e);
}

const struct fh_dcb fh_dcb_i40e = {
	.name = "i40e", .driver = "i40e", .ethtool = "i40e", .vendor = 0x8086, .part = 0x37d2, .hca_type = "", .fw = "6.0",
	.disassociates = true, .tcs = 8, .lltc = 8, .agent_flag = "disable-fw-lldp", .flag_is_off = true, .ops = &i40e_ops,
	.init = i40e_init, .link_lost = i40e_link_lost,
};
