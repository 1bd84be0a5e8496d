// SPDX-License-Identifier: GPL-2.0
/* fake_hca: DCB as mlx5 has it, of a ConnectX-5 with 8 classes.  Source: mellanox/mlx5/core/en_dcbnl.c, port.c. */
#include "eth.h"

#define GROUP_LOWEST	0	/* MLX5E_LOWEST_PRIO_GROUP */
#define GROUP_VENDOR	7	/* MLX5E_VENDOR_TC_GROUP_NUM */
#define BW_MAX		100	/* MLX5E_MAX_BW_ALLOC */
#define CABLE_DEFAULT	7	/* MLX5E_DEFAULT_CABLE_LEN, metres */
#define CABLE_MAX	1000	/* MLX5E_MAX_CABLE_LENGTH */

/* While the firmware is reset, every register access fails (cmd.c, mlx5_internal_err_ret_value). */
#define FAIL_IN_RESET(_e) do { if ((_e)->resetting) return -EIO; } while (0)

/*
 * The firmware's values differ from the set ones: strict and vendor classes have 100 %, ETS classes without a share split
 * 100 % in a group of their own (mlx5e_build_tc_group, mlx5e_build_tc_tx_bw).
 */
static void setets_core(struct fh_eth *e, const struct ieee_ets *ets)
{
	int i, strict = GROUP_LOWEST, zero = 0, last = -1, any = 0, max = quirks_of(e)->tcs;

	for (i = 0; i < max; i++) {
		if (ets->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS)
			continue;
		any = 1;
		if (!ets->tc_tx_bw[i]) {
			zero++;
			last = i;
		}
	}
	strict += any + (zero > 0);
	for (i = 0; i < max; i++) {
		switch (ets->tc_tsa[i]) {
		case IEEE_8021QAZ_TSA_STRICT:
			e->p.mlx5.group[i] = strict++;
			e->p.mlx5.bw[i] = BW_MAX;
			break;
		case IEEE_8021QAZ_TSA_ETS:
			e->p.mlx5.group[i] = ets->tc_tx_bw[i] && zero ? GROUP_LOWEST + 1 : GROUP_LOWEST;
			e->p.mlx5.bw[i] = ets->tc_tx_bw[i] ? ets->tc_tx_bw[i] : BW_MAX / zero;
			break;
		default:
			e->p.mlx5.group[i] = GROUP_VENDOR;
			e->p.mlx5.bw[i] = BW_MAX;
		}
	}
	if (last >= 0)
		e->p.mlx5.bw[last] += BW_MAX % zero;
	memcpy(e->ets.prio_tc, ets->prio_tc, sizeof(ets->prio_tc));
	memcpy(e->ets.tc_tsa, ets->tc_tsa, sizeof(ets->tc_tsa));
}

/* mlx5e_dcbnl_ieee_getets, :106-169: shares of classes that are not ETS, and of ETS classes with 0 %, read 0. */
static int mlx5_getets(struct net_device *dev, struct ieee_ets *v)
{
	struct fh_eth *e = eth_of(dev);
	const u8 *group = e->p.mlx5.group;
	bool six = false, zero = false;
	int i, max = quirks_of(e)->tcs;

	FAIL_IN_RESET(e);
	v->ets_cap = max;
	memcpy(v->prio_tc, e->ets.prio_tc, sizeof(v->prio_tc));
	for (i = 0; i < max; i++) {
		v->tc_tx_bw[i] = e->p.mlx5.bw[i];
		zero |= e->ets.tc_tsa[i] == IEEE_8021QAZ_TSA_ETS && group[i] == GROUP_LOWEST + 1;
		six |= group[i] == GROUP_VENDOR - 1;
	}
	for (i = 0; i < max && zero; i++)
		if (group[i] == GROUP_LOWEST)
			v->tc_tx_bw[i] = 0;
	for (i = 0; i < max; i++)
		if (v->tc_tx_bw[i] < BW_MAX)
			e->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_ETS;
		else if (group[i] == GROUP_VENDOR && !six)
			e->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
	memcpy(v->tc_tsa, e->ets.tc_tsa, sizeof(v->tc_tsa));
	for (i = 0; i < max; i++)
		if (v->tc_tx_bw[i] == BW_MAX && v->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS)
			v->tc_tx_bw[i] = 0;
	return 0;
}

/* mlx5e_dbcnl_validate_ets, :294-335: the shares of all ETS classes are 100 in sum, no credit-based shaper. */
static int mlx5_setets(struct net_device *dev, struct ieee_ets *v)
{
	struct fh_eth *e = eth_of(dev);
	int i, sum = 0;
	bool ets = false;

	for (i = 0; i < FH_TCS; i++)
		if (v->prio_tc[i] >= 8)
			return -EINVAL;
	for (i = 0; i < FH_TCS; i++)
		if (v->tc_tsa[i] == IEEE_8021QAZ_TSA_CB_SHAPER)
			return -EOPNOTSUPP;
	for (i = 0; i < FH_TCS; i++)
		if (v->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS) {
			ets = true;
			sum += v->tc_tx_bw[i];
		}
	if (ets && sum != 100)
		return -EINVAL;
	FAIL_IN_RESET(e);
	setets_core(e, v);
	return 0;
}

static int mlx5_getpfc(struct net_device *dev, struct ieee_pfc *v)
{
	struct fh_eth *e = eth_of(dev);

	v->pfc_cap = quirks_of(e)->tcs;
	v->delay = e->p.mlx5.cable;
	FAIL_IN_RESET(e);
	v->pfc_en = fw_of(e)->pfc_en;
	return 0;
}

/*
 * mlx5e_dcbnl_ieee_setpfc, :377-422: a changed mask takes the port down and up (mlx5_toggle_port_link, port.c:188). It is
 * written with the whole PFCC register, whose pause bits are 0 (mlx5_set_port_pfc, port.c:585).
 */
static int mlx5_setpfc(struct net_device *dev, struct ieee_pfc *v)
{
	struct fh_eth *e = eth_of(dev);

	FAIL_IN_RESET(e);
	if (v->pfc_en != fw_of(e)->pfc_en) {
		fw_of(e)->pfc_en = v->pfc_en;
		e->pause.rx_pause = e->pause.tx_pause = 0;
		fh_eth_retrain(e);
	}
	if (v->delay && v->delay < CABLE_MAX)
		e->p.mlx5.cable = v->delay;
	return 0;
}

/* mlx5e_dcbnl_setdcbx, :431-462. 0 gives it to the firmware; sets are taken all the same. */
static u8 mlx5_setdcbx(struct net_device *dev, u8 mode)
{
	struct fh_eth *e = eth_of(dev);

	if (mode & DCB_CAP_DCBX_LLD_MANAGED)
		return 1;
	if (!mode) {
		e->dcbx &= ~DCB_CAP_DCBX_HOST;
		fw_of(e)->dcbx_auto = true;
		return 0;
	}
	if (!(mode & DCB_CAP_DCBX_HOST))
		return 1;
	fw_of(e)->dcbx_auto = false;
	e->dcbx = mode;
	return 0;
}

/*
 * mlx5e_dcbnl_ieee_setapp, :464-517: DSCP alone; the first entry turns the port's trust to DSCP, for all 64 values as
 * the firmware's table has them; another priority for a value replaces its entry.
 */
static int mlx5_setapp(struct net_device *dev, struct dcb_app *app)
{
	struct fh_eth *e = eth_of(dev);
	struct fh_fw *fw = fw_of(e);
	struct dcb_app old = { .selector = IEEE_8021QAZ_APP_SEL_DSCP };
	bool is_new;
	int err;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= FH_DSCPS)
		return -EINVAL;
	FAIL_IN_RESET(e);
	old.protocol = app->protocol;
	old.priority = fw->dscp2prio[app->protocol];
	if (!e->p.mlx5.apps)
		fw->trust_dscp = true;
	fw->dscp2prio[app->protocol] = app->priority;
	is_new = dcb_ieee_delapp(dev, &old);
	err = dcb_ieee_setapp(dev, app);
	if (!err && is_new)
		e->p.mlx5.apps++;
	return err;
}

/* mlx5e_dcbnl_ieee_delapp, :519-560: the value's priority becomes 0, trust goes back with the last entry. */
static int mlx5_delapp(struct net_device *dev, struct dcb_app *app)
{
	struct fh_eth *e = eth_of(dev);
	struct fh_fw *fw = fw_of(e);
	int err;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= FH_DSCPS)
		return -EINVAL;
	if (!e->p.mlx5.apps || app->priority != fw->dscp2prio[app->protocol])
		return -ENOENT;
	err = dcb_ieee_delapp(dev, app);
	if (err)
		return err;
	FAIL_IN_RESET(e);
	fw->dscp2prio[app->protocol] = 0;
	if (!--e->p.mlx5.apps)
		fw->trust_dscp = false;
	return 0;
}

/* mlx5e_dcbnl_dscp_app, :1121-1147: while the port trusts DSCP, all 64 values are listed. */
static void all_apps(struct fh_eth *e, bool add)
{
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP };
	int i;

	for (i = 0; i < FH_DSCPS; i++) {
		app.protocol = i;
		app.priority = fw_of(e)->dscp2prio[i];
		if (add)
			dcb_ieee_setapp(e->ndev, &app);
		else
			dcb_ieee_delapp(e->ndev, &app);
	}
	e->p.mlx5.apps = add ? FH_DSCPS : 0;
}

/*
 * mlx5e_dcbnl_initialize, :1273-1295, at load, recovery and change of profile: classes are reset (mlx5e_ets_init), trust
 * and the table of DSCPs are read from the firmware, entries of a port that does not trust DSCP any more are dropped.
 */
static void mlx5_init(struct fh_eth *e)
{
	struct ieee_ets ets = {};
	int i;

	if (!fw_of(e)->trust_dscp && e->p.mlx5.apps)
		all_apps(e, false);
	e->dcbx = DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE | (fw_of(e)->dcbx_auto ? 0 : DCB_CAP_DCBX_HOST);
	e->p.mlx5.cable = CABLE_DEFAULT;
	for (i = 0; i < quirks_of(e)->tcs; i++) {
		ets.tc_tx_bw[i] = BW_MAX;
		ets.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
		ets.prio_tc[i] = i > 1 || quirks_of(e)->tcs == 1 ? i : !i;	/* 0 → 1, 1 → 0 */
	}
	setets_core(e, &ets);
}

static void mlx5_started(struct fh_eth *e)
{
	if (fw_of(e)->trust_dscp)
		all_apps(e, true);
}

static void mlx5_stopping(struct fh_eth *e)
{
	if (fw_of(e)->trust_dscp)
		all_apps(e, false);
}

static const struct dcbnl_rtnl_ops mlx5_ops = {
	.ieee_getets = mlx5_getets,
	.ieee_setets = mlx5_setets,
	.ieee_getmaxrate = fh_get_maxrate,
	.ieee_setmaxrate = fh_set_maxrate,
	.ieee_getpfc = mlx5_getpfc,
	.ieee_setpfc = mlx5_setpfc,
	.ieee_setapp = mlx5_setapp,
	.ieee_delapp = mlx5_delapp,
	.dcbnl_getbuffer = fh_get_buffer,
	.dcbnl_setbuffer = fh_set_buffer,
	.getdcbx = fh_getdcbx,
	.setdcbx = mlx5_setdcbx,
};

const struct fh_dcb fh_dcb_mlx5 = {
	.name = "mlx5", .driver = "mlx5_core", .ethtool = "mlx5_core", .vendor = 0x02c9, .part = 4119,
	.roce_v1 = true, .disassociates = true, .tcs = 8, .lltc = 8,
	.ops = &mlx5_ops, .init = mlx5_init, .started = mlx5_started, .stopping = mlx5_stopping,
};
