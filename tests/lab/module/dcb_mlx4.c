// SPDX-License-Identifier: GPL-2.0
/*
 * fake_hca: DCB as mlx4_en has it; "mlx4pfc" is one whose firmware has no ETS.  Source: mellanox/mlx4/en_dcb_nl.c,
 * en_netdev.c:3236-3256.
 *
 * There is no ieee_setapp: net/dcb/dcbnl.c:1507 keeps the APP table in the core, and no entry of it reaches the adapter,
 * which classifies by VLAN priority.
 */
#include "eth.h"

/* mlx4_en_ets_validate, :305-340. */
static int mlx4_setets(struct net_device *dev, struct ieee_ets *v)
{
	int i, sum = 0;
	bool ets = false;

	for (i = 0; i < FH_TCS; i++) {
		if (v->prio_tc[i] >= 8)
			return -EINVAL;
		switch (v->tc_tsa[i]) {
		case IEEE_8021QAZ_TSA_VENDOR:
		case IEEE_8021QAZ_TSA_STRICT:
			break;
		case IEEE_8021QAZ_TSA_ETS:
			ets = true;
			sum += v->tc_tx_bw[i];
			break;
		default:
			return -EOPNOTSUPP;
		}
	}
	if (ets && sum != 100)
		return -EINVAL;
	eth_of(dev)->ets = *v;
	return 0;
}

/* mlx4_en_dcbnl_ieee_getets, :287-303: the set values, and no more than these. */
static int mlx4_getets(struct net_device *dev, struct ieee_ets *v)
{
	const struct ieee_ets *mine = &eth_of(dev)->ets;

	v->ets_cap = FH_TCS;
	v->cbs = mine->cbs;
	memcpy(v->tc_tx_bw, mine->tc_tx_bw, sizeof(v->tc_tx_bw));
	memcpy(v->tc_tsa, mine->tc_tsa, sizeof(v->tc_tsa));
	memcpy(v->prio_tc, mine->prio_tc, sizeof(v->prio_tc));
	return 0;
}

static int mlx4_getpfc(struct net_device *dev, struct ieee_pfc *v)
{
	v->pfc_cap = FH_TCS;
	v->pfc_en = eth_of(dev)->pfc.pfc_en;
	return 0;
}

/* mlx4_en_dcbnl_ieee_setpfc, :411-448: the link stays up; neither mbc nor delay is kept. */
static int mlx4_setpfc(struct net_device *dev, struct ieee_pfc *v)
{
	eth_of(dev)->pfc.pfc_en = v->pfc_en;
	fh_pfc_excludes_pause(eth_of(dev), v->pfc_en);
	return 0;
}

/* mlx4_en_dcbnl_setdcbx, :457-497: another mode, IEEE or none, clears ETS and PFC. */
static u8 mlx4_setdcbx(struct net_device *dev, u8 mode)
{
	struct fh_eth *e = eth_of(dev);
	struct ieee_ets none = {};

	if (mode == e->dcbx)
		return 0;
	if ((mode & DCB_CAP_DCBX_LLD_MANAGED) || !(mode & DCB_CAP_DCBX_HOST) ||
	    ((mode & DCB_CAP_DCBX_VER_IEEE) && (mode & DCB_CAP_DCBX_VER_CEE)))
		return 1;
	e->dcbx = mode;
	if ((mode & DCB_CAP_DCBX_VER_IEEE) || !(mode & DCB_CAP_DCBX_VER_CEE)) {
		mlx4_setets(dev, &none);
		e->pfc.pfc_en = 0;
	}
	return 0;
}

static const struct dcbnl_rtnl_ops mlx4_ops = {
	.ieee_getets = mlx4_getets,
	.ieee_setets = mlx4_setets,
	.ieee_getmaxrate = fh_get_maxrate,
	.ieee_setmaxrate = fh_set_maxrate,
	.ieee_getpfc = mlx4_getpfc,
	.ieee_setpfc = mlx4_setpfc,
	.getdcbx = fh_getdcbx,
	.setdcbx = mlx4_setdcbx,
};

static const struct dcbnl_rtnl_ops mlx4pfc_ops = {
	.ieee_getpfc = mlx4_getpfc,
	.ieee_setpfc = mlx4_setpfc,
	.getdcbx = fh_getdcbx,
	.setdcbx = mlx4_setdcbx,
};

static void mlx4_init(struct fh_eth *e)
{
	int i;

	for (i = 0; i < FH_TCS; i++) {
		e->ets.prio_tc[i] = i;
		e->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
	}
	e->dcbx = DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

#define MLX4 .driver = "mlx4_core", .ethtool = "mlx4_en", .vendor = 0x02c9, .part = 4103, .fw = "2.42.5000", .roce_v1 = true, \
	.disassociates = true, .tcs = 8, .lltc = 8, .init = mlx4_init

const struct fh_dcb fh_dcb_mlx4 = { .name = "mlx4", MLX4, .ops = &mlx4_ops };
const struct fh_dcb fh_dcb_mlx4pfc = { .name = "mlx4pfc", MLX4, .ops = &mlx4pfc_ops };
