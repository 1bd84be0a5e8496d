// SPDX-License-Identifier: GPL-2.0
/*
 * fake_hca: the drivers whose DCB can be played, and what their parts share.
 *
 * Limits, refusals and side effects are those of Linux 6.1; each is told with file and function (facts, no code was
 * copied).  Paths are below drivers/net/ethernet.  docs/LAB.md lists the modelled behaviour and the rest.
 *   plain    no driver: stores and returns whatever it is given; alone has an order of trust, with Linux 6.2
 *   mlx5     dcb_mlx5.c      mlx4, mlx4pfc  dcb_mlx4.c
 *   ice      dcb_ice.c       i40e           dcb_i40e.c
 *   bnxt     dcb_bnxt.c      hns3           dcb_hns3.c
 *   qede     dcb_qede.c
 */
#include "eth.h"

static const struct fh_dcb * const fh_dcbs[] = {
	&fh_dcb_mlx5, &fh_dcb_mlx4, &fh_dcb_mlx4pfc, &fh_dcb_ice, &fh_dcb_i40e, &fh_dcb_bnxt, &fh_dcb_hns3, &fh_dcb_qede, &fh_dcb_plain,
};

const struct fh_dcb *fh_dcb_find(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(fh_dcbs); i++)
		if (!strcmp(fh_dcbs[i]->name, name))
			return fh_dcbs[i];
	return NULL;
}

#define FH_DCB_GETSET(_what, _type, _member)					\
int fh_get_##_what(struct net_device *dev, struct _type *v)			\
{										\
	*v = eth_of(dev)->_member;						\
	return 0;								\
}										\
int fh_set_##_what(struct net_device *dev, struct _type *v);			\
int fh_set_##_what(struct net_device *dev, struct _type *v)			\
{										\
	eth_of(dev)->_member = *v;						\
	return 0;								\
}
FH_DCB_GETSET(ets, ieee_ets, ets)
FH_DCB_GETSET(maxrate, ieee_maxrate, maxrate)
FH_DCB_GETSET(buffer, dcbnl_buffer, buffer)

int fh_get_pfc(struct net_device *dev, struct ieee_pfc *v)
{
	*v = eth_of(dev)->pfc;
	return 0;
}

u8 fh_getdcbx(struct net_device *dev) { return eth_of(dev)->dcbx; }

/* Priority flow control excludes global pause: mellanox/mlx4/en_dcb_nl.c, mlx4_en_dcbnl_ieee_setpfc. */
void fh_pfc_excludes_pause(struct fh_eth *e, u8 pfc_en)
{
	if (pfc_en)
		e->pause.rx_pause = e->pause.tx_pause = 0;
}

/* ---- plain ---------------------------------------------------------------------------------------- */

static int plain_set_pfc(struct net_device *dev, struct ieee_pfc *v)
{
	struct fh_eth *e = eth_of(dev);

	e->pfc.pfc_en = v->pfc_en;
	e->pfc.mbc = v->mbc;
	e->pfc.delay = v->delay;
	fh_pfc_excludes_pause(e, v->pfc_en);
	return 0;
}

static u8 plain_setdcbx(struct net_device *dev, u8 mode)
{
	if ((mode & DCB_CAP_DCBX_LLD_MANAGED) || !(mode & DCB_CAP_DCBX_HOST))
		return 1;
	eth_of(dev)->dcbx = mode;
	return 0;
}

#ifdef FH_APPTRUST
/*
 * microchip/sparx5/sparx5_dcb.c, sparx5_dcb_apptrust_validate: nothing, DSCP, PCP, or DSCP before PCP.  No driver of RDMA
 * adapters has an order of trust.
 */
static int plain_setapptrust(struct net_device *dev, u8 *selectors, int n)
{
	struct fh_eth *e = eth_of(dev);

	if (n > 2 || (n == 2 && (selectors[0] != IEEE_8021QAZ_APP_SEL_DSCP || selectors[1] != DCB_APP_SEL_PCP)) ||
	    (n == 1 && selectors[0] != IEEE_8021QAZ_APP_SEL_DSCP && selectors[0] != DCB_APP_SEL_PCP))
		return -EOPNOTSUPP;
	memcpy(e->trust, selectors, n);
	e->ntrust = n;
	return 0;
}

static int plain_getapptrust(struct net_device *dev, u8 *selectors, int *n)
{
	struct fh_eth *e = eth_of(dev);

	memcpy(selectors, e->trust, e->ntrust);
	*n = e->ntrust;
	return 0;
}
#endif

static const struct dcbnl_rtnl_ops plain_ops = {
	.ieee_getets = fh_get_ets,
	.ieee_setets = fh_set_ets,
	.ieee_getmaxrate = fh_get_maxrate,
	.ieee_setmaxrate = fh_set_maxrate,
	.ieee_getpfc = fh_get_pfc,
	.ieee_setpfc = plain_set_pfc,
	.dcbnl_getbuffer = fh_get_buffer,
	.dcbnl_setbuffer = fh_set_buffer,
	.getdcbx = fh_getdcbx,
	.setdcbx = plain_setdcbx,
#ifdef FH_APPTRUST
	.dcbnl_setapptrust = plain_setapptrust,
	.dcbnl_getapptrust = plain_getapptrust,
#endif
	/* no ieee_setapp, ieee_delapp: then net/dcb/dcbnl.c keeps the APP table by itself */
};

static void plain_init(struct fh_eth *e)
{
	e->pfc.pfc_cap = e->ets.ets_cap = quirks_of(e)->tcs;
	e->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
#ifdef FH_APPTRUST
	e->trust[0] = IEEE_8021QAZ_APP_SEL_DSCP;
	e->trust[1] = DCB_APP_SEL_PCP;
	e->ntrust = 2;
#endif
}

const struct fh_dcb fh_dcb_plain = {
	.name = "plain", .driver = KBUILD_MODNAME, .ethtool = KBUILD_MODNAME, .vendor = 0x02c9, .part = 4119,
	.roce_v1 = true, .disassociates = true, .tcs = 8, .lltc = 8, .ops = &plain_ops, .init = plain_init,
};
