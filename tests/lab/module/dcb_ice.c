// SPDX-License-Identifier: GPL-2.0
/*
 * fake_hca: DCB as ice has it (RDMA: irdma).  Source: intel/ice/ice_dcb_nl.c, ice_dcb_lib.c.
 *
 * The driver has the configuration that is in force (local) and the one it was told (desired), and puts a change into
 * force as a whole.  It starts with an empty desired one: its number of classes, maxtcs, is filled in by ETS alone.
 */
#include "eth.h"

enum { HW_CHG_RST, NO_HW_CHG, HW_CHG };	/* ice_dcb_lib.h:13-15: also what the caller gets, 1 and 2 as errors */

static bool managed(const struct fh_eth *e) { return e->dcbx & DCB_CAP_DCBX_LLD_MANAGED; }

/* Linux 6.12: nothing may be changed in a bond (ice_dcb_nl.c:73 there, and wherever anything is set). */
static bool bonded(struct fh_eth *e) { return quirks_of(e)->v612 && netif_is_bond_slave(e->ndev); }
static bool ieee(const struct fh_eth *e) { return e->dcbx & DCB_CAP_DCBX_VER_IEEE; }

/* ice_dcb_get_num_tc: classes without a gap from 0 on, 1 when there is a gap. */
static int num_tc(const struct fh_ice_cfg *c)
{
	int i, n;
	u8 used = 0;

	for (i = 0; i < FH_TCS; i++)
		used |= BIT(c->ets.prio[i]);
	n = ffz(used);
	return n && !(used >> n) ? n : 1;
}

/* ice_dcb_bwchk, ice_dcb_lib.c:311: refused values stay in the desired configuration. */
static int check_shares(struct fh_ice_cfg *c)
{
	int i, n = num_tc(c);
	u8 sum = 0;

	for (i = 0; i < n && n > 1; i++)
		sum += c->ets.bw[i];
	if (!sum)
		c->ets.bw[0] = 100;
	return sum && sum != 100 ? -EINVAL : 0;
}

/* ice_pf_dcb_cfg, ice_dcb_lib.c:349: a configuration that differs in anything is put into force. */
static int commit(struct fh_eth *e, struct fh_ice_cfg *c)
{
	if (!memcmp(c, &e->p.ice.local, sizeof(*c)))
		return managed(e) ? HW_CHG_RST : NO_HW_CHG;
	if (check_shares(c))
		return -EINVAL;
	memcpy(&e->p.ice.local, c, sizeof(*c));
	e->p.ice.local.rec = c->rec = c->ets;
	return HW_CHG_RST;
}

/* ice_dcb_sw_dflt_cfg, ice_dcb_lib.c:627: of the local configuration; the desired one keeps what it has. */
static int defaults(struct fh_eth *e)
{
	struct fh_ice_cfg c;

	memset(&c, 0, sizeof(c));
	memset(&e->p.ice.local, 0, sizeof(c));
	c.ets.willing = c.pfc.willing = c.napps = 1;
	c.ets.maxtcs = c.pfc.cap = quirks_of(e)->tcs;
	c.ets.bw[0] = 100;
	c.ets.tsa[0] = IEEE_8021QAZ_TSA_ETS;
	c.rec = c.ets;
	c.rec.willing = 0;
	c.app[0].selector = IEEE_8021QAZ_APP_SEL_ETHERTYPE;
	c.app[0].prio = 3;
	c.app[0].id = ETH_P_FCOE;
	return commit(e, &c);
}

static int ice_getets(struct net_device *dev, struct ieee_ets *v)
{
	const struct fh_ice_cfg *c = &eth_of(dev)->p.ice.local;

	v->willing = c->ets.willing;
	v->ets_cap = c->ets.maxtcs;
	v->cbs = c->ets.cbs;
	memcpy(v->tc_tx_bw, c->ets.bw, FH_TCS);
	memcpy(v->tc_rx_bw, c->ets.bw, FH_TCS);
	memcpy(v->tc_tsa, c->ets.tsa, FH_TCS);
	memcpy(v->prio_tc, c->ets.prio, FH_TCS);
	memcpy(v->tc_reco_bw, c->rec.bw, FH_TCS);
	memcpy(v->tc_reco_tsa, c->rec.tsa, FH_TCS);
	memcpy(v->reco_prio_tc, c->ets.prio, FH_TCS);
	return 0;
}

/* ice_dcbnl_setets, :62-116: in DSCP mode the classes of the priorities stay. */
static int ice_setets(struct net_device *dev, struct ieee_ets *v)
{
	struct fh_eth *e = eth_of(dev);
	struct fh_ice_cfg *c = &e->p.ice.desired;
	int i, sum = 0, reco = 0, err;

	if (managed(e) || !ieee(e) || bonded(e))
		return -EINVAL;
	c->ets.willing = v->willing;
	c->ets.cbs = v->cbs;
	for (i = 0; i < FH_TCS; i++) {
		c->ets.bw[i] = v->tc_tx_bw[i];
		c->ets.tsa[i] = v->tc_tsa[i];
		if (!c->dscp_mode) {
			c->ets.prio[i] = v->prio_tc[i] & 7;
			c->rec.prio[i] = v->reco_prio_tc[i] & 7;
		}
		c->rec.bw[i] = v->tc_reco_bw[i];
		c->rec.tsa[i] = v->tc_reco_tsa[i];
		sum += v->tc_tx_bw[i];
		reco += v->tc_reco_bw[i];
	}
	if (check_shares(c))
		return -EINVAL;
	c->ets.maxtcs = quirks_of(e)->tcs;
	if (!sum)
		c->ets.bw[0] = 100;
	if (!reco)
		c->rec.bw[0] = 100;
	err = commit(e, c);
	if (err == HW_CHG_RST)
		fh_eth_reopen(e);
	return err == NO_HW_CHG ? 0 : err;
}

static int ice_getpfc(struct net_device *dev, struct ieee_pfc *v)
{
	const struct fh_ice_cfg *c = &eth_of(dev)->p.ice.local;

	v->pfc_cap = c->pfc.cap;
	v->pfc_en = c->pfc.en;
	v->mbc = c->pfc.mbc;
	return 0;
}

/* ice_dcbnl_setpfc, :254-282. */
static int ice_setpfc(struct net_device *dev, struct ieee_pfc *v)
{
	struct fh_eth *e = eth_of(dev);
	struct fh_ice_cfg *c = &e->p.ice.desired;
	int err;

	if (managed(e) || !ieee(e) || bonded(e))
		return -EINVAL;
	c->pfc.cap = v->pfc_cap ? v->pfc_cap : quirks_of(e)->tcs;
	c->pfc.en = v->pfc_en;
	err = commit(e, c);
	if (err == HW_CHG_RST)
		fh_eth_reopen(e);
	return err == NO_HW_CHG ? 0 : err;
}

/*
 * ice_dcbnl_setapp, :698-818: DSCP alone; a priority is a class here; a value that is mapped cannot be mapped again; the
 * first one turns the port to DSCP mode and rewrites ETS.
 */
static int ice_setapp(struct net_device *dev, struct dcb_app *app)
{
	struct fh_eth *e = eth_of(dev);
	struct fh_ice_cfg *c = &e->p.ice.desired;
	int i, err, max = quirks_of(e)->tcs;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || managed(e) || !ieee(e) || bonded(e) || app->protocol >= FH_DSCPS ||
	    app->priority >= max)
		return -EINVAL;
	err = dcb_ieee_setapp(dev, app);
	if (err)
		return err;
	if (test_and_set_bit(app->protocol, c->mapped)) {
		dcb_ieee_delapp(dev, app);
		return -EINVAL;
	}
	if (!e->p.ice.local.dscp_mode) {
		c->dscp_mode = 1;
		c->ets.willing = c->pfc.willing = 0;
		c->pfc.cap = max;
		for (i = 0; i < max; i++) {
			c->ets.bw[i] = i ? 0 : 100;
			c->ets.tsa[i] = IEEE_8021QAZ_TSA_ETS;
			c->ets.prio[i] = i;
		}
	}
	c->map[app->protocol] = app->priority;
	if (c->napps < FH_DSCPS) {
		c->app[c->napps].selector = app->selector;
		c->app[c->napps].id = app->protocol;
		c->app[c->napps].prio = app->priority;
		c->napps++;
	}
	err = commit(e, c);
	if (err != HW_CHG_RST)
		return NO_HW_CHG;	/* a refusal too: :810-813 */
	fh_eth_reopen(e);
	return 0;
}

/* ice_dcbnl_delapp, :827-924: the last one turns the port back, and all is as it was at load. */
static int ice_delapp(struct net_device *dev, struct dcb_app *app)
{
	struct fh_eth *e = eth_of(dev);
	struct fh_ice_cfg *c = &e->p.ice.desired;
	int i, err;

	if (managed(e) || bonded(e))
		return -EINVAL;
	err = dcb_ieee_delapp(dev, app);
	if (err)
		return err;
	for (i = 0; i < c->napps; i++)
		if (c->app[i].selector == app->selector && c->app[i].id == app->protocol && c->app[i].prio == app->priority)
			break;
	if (i == c->napps)
		return -EINVAL;
	memset(&c->app[i], 0, sizeof(c->app[i]));
	c->napps--;
	for (; i < c->napps; i++)
		c->app[i] = e->p.ice.local.app[i + 1];
	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP)
		return HW_CHG;
	clear_bit(app->protocol, c->mapped);
	c->map[app->protocol] = app->protocol % 8;
	if (bitmap_empty(c->mapped, FH_DSCPS) && c->dscp_mode) {
		c->dscp_mode = 0;
		err = defaults(e);
	} else {
		err = commit(e, c);
	}
	if (err == HW_CHG_RST)
		fh_eth_reopen(e);
	return err == NO_HW_CHG ? HW_CHG : err;
}

/* ice_dcbnl_setdcbx, :154-188: not under the firmware's agent, and not twice the same. */
static u8 ice_setdcbx(struct net_device *dev, u8 mode)
{
	struct fh_eth *e = eth_of(dev);

	if (managed(e) || bonded(e) || (mode & DCB_CAP_DCBX_LLD_MANAGED) || !(mode & DCB_CAP_DCBX_HOST) ||
	    ((mode & DCB_CAP_DCBX_VER_IEEE) && (mode & DCB_CAP_DCBX_VER_CEE)) || mode == e->dcbx || e->p.ice.local.dscp_mode)
		return NO_HW_CHG;
	e->dcbx = mode;
	e->p.ice.local.dcbx_mode = mode & DCB_CAP_DCBX_VER_CEE ? 1 : 2;
	return HW_CHG_RST;
}

static const struct dcbnl_rtnl_ops ice_ops = {
	.ieee_getets = ice_getets,
	.ieee_setets = ice_setets,
	.ieee_getpfc = ice_getpfc,
	.ieee_setpfc = ice_setpfc,
	.ieee_setapp = ice_setapp,
	.ieee_delapp = ice_delapp,
	.getdcbx = fh_getdcbx,
	.setdcbx = ice_setdcbx,
};

/* ice_init_pf_dcb, ice_dcb_lib.c:797, and what turning the agent on or off does (ice_ethtool.c, fw-lldp-agent). */
static void ice_init(struct fh_eth *e)
{
	e->dcbx = (quirks_of(e)->agent ? DCB_CAP_DCBX_LLD_MANAGED : DCB_CAP_DCBX_HOST) | DCB_CAP_DCBX_VER_IEEE;
	defaults(e);
}

const struct fh_dcb fh_dcb_ice = {
	.name = "ice", .driver = "ice", .ethtool = "ice", .vendor = 0x8086, .part = 0x1592, .hca_type = "", .fw = "1.55",
	.disassociates = true, .slow_open = true, .tcs = 8, .lltc = 8, .agent_flag = "fw-lldp-agent", .ops = &ice_ops, .init = ice_init,
};
